package dev.idempotency.internal.check;

import dev.idempotency.StartupCheck;
import dev.idempotency.internal.check.Findings.Report;
import dev.idempotency.internal.definition.ListenerMethod;
import dev.idempotency.internal.definition.ProtectedListener;
import dev.idempotency.internal.key.KeyText;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.math.BigDecimal;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.UUID;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.jspecify.annotations.Nullable;
import org.springframework.core.ResolvableType;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.kafka.support.KafkaHeaders;
import org.springframework.messaging.Message;
import org.springframework.messaging.MessageHeaders;
import org.springframework.messaging.handler.annotation.Header;
import org.springframework.util.ClassUtils;
import org.springframework.util.ReflectionUtils;
import org.springframework.util.StringUtils;

/**
 * Checks that a key expression gives the same key at every delivery, and another one for every message; and that a version
 * expression gives what the producer has given the state. It looks at the text of the expression in its usual notations.
 */
final class KeyCheck {

    private static final Map<String, String> REMEDIES = Map.of(
            "key",
            "Take what the producer has given the message: a part of the payload or a header of the record, as in"
                    + " @IdempotentListener(key = \"#headers['message-id']\").",
            "version",
            "Take what the producer has given the state: a number that grows with every change or the time of the"
                    + " change, as in @IdempotentListener(version = \"#payload.version\").",
            "lock",
            "Take what names the thing that must not be changed by two at once, as in"
                    + " @IdempotentListener(lock = \"'customer/' + #payload.customerId\").");

    /** Headers that Spring sets in the consumer, anew for every delivery. */
    private static final Set<String> MINTED =
            Set.of(MessageHeaders.ID, MessageHeaders.TIMESTAMP, KafkaHeaders.DELIVERY_ATTEMPT);

    private static final Pattern MINTED_OF_MESSAGE =
            Pattern.compile("#(\\w+)\\.headers(?:\\.|\\['|\\.get)((?i)id|timestamp|kafka_deliveryAttempt)(?![\\w-])");

    private static final Pattern CHANGING = Pattern.compile("kafka_deliveryAttempt|retry_topic-(attempts|backoff)"
            + "|\\b(randomUUID|currentTimeMillis|nanoTime|now|random|generateId|currentThread|getLocalHost)\\s*\\("
            + "|\\b(hashCode|identityHashCode|identityToString)\\s*\\(|\\bjava\\.util\\.Objects\\)\\.hash\\s*\\("
            + "|\\bjava\\.(util|security)\\.[\\w.]*Random\\w*|\\bnew\\s+java\\.util\\.Date\\s*\\(\\s*\\)"
            + "|\\bjava\\.time\\.(Clock|InstantSource)\\b");

    /** Not as the argument of a method, and not compared. */
    private static final Pattern WHOLE =
            Pattern.compile("(?<![(,])(#record|#headers)(\\.headers)?(\\.toString\\(\\))?(?![\\w.\\[=!])");

    private static final Pattern OFFSET = Pattern.compile("#((record|coordinates)\\.)?offset\\b");

    private static final Pattern OFFSET_OR_TIME = Pattern.compile("#(record|coordinates)\\.(offset|timestamp)\\b");

    /** Parts of a record that many records share. */
    private static final Pattern SHARED = Pattern.compile("#(record|coordinates)\\."
            + "(topic|partition|timestamp|timestampType|leaderEpoch|serializedKeySize|serializedValueSize)\\b");

    /** Common types that do not compare exactly, or are no points in time. */
    private static final Set<Class<?>> NO_VERSIONS = Set.of(
            Double.class,
            Float.class,
            BigDecimal.class,
            LocalDateTime.class,
            LocalDate.class,
            Boolean.class,
            UUID.class);

    /** Types that have the payload within. */
    private static final Set<Class<?>> ENVELOPES = Set.of(ConsumerRecord.class, Message.class);

    private static final Pattern PROPERTY = Pattern.compile("#(\\w+)\\.([A-Za-z_]\\w*)");

    private final String role;
    private final String expression;
    private final ListenerMethod method;
    private final Class<?> payloadType;
    private final Report report;

    /** The expression in one notation. */
    private final String code;

    private final String withoutTexts;

    private KeyCheck(String role, String expression, Method method, Report report) {
        this.role = role;
        this.expression = expression;
        this.method = new ListenerMethod(method, false, null);
        this.payloadType = (this.method.payload() != null) ? elementOf(this.method.payload()) : Object.class;
        this.report = report;
        this.code = expression
                .replaceAll("\\s+", "")
                .replace("?.", ".")
                .replace('"', '\'')
                .replace("getHeaders()", "headers")
                .replace("headers()", "headers")
                .replaceAll("\\.get\\('([^']*)'[^)]*\\)", "['$1']")
                .replaceAll("\\[(\\w+)\\]", "['$1']");
        this.withoutTexts = this.code.replaceAll("'[^']*'", "");
    }

    private Class<?> typeOf(int parameter) {
        return elementOf(ResolvableType.forMethodParameter(this.method.method(), parameter));
    }

    /** In a batch, each message has its element of an argument. */
    private static Class<?> elementOf(ResolvableType type) {
        if (type.isArray()) {
            return type.getComponentType().toClass();
        }
        ResolvableType collection = type.as(Collection.class);
        return (collection != ResolvableType.NONE) ? collection.getGeneric(0).toClass() : type.toClass();
    }

    static void check(ProtectedListener listener, Report report) {
        check("key", listener.keyExpression(), listener.method(), report);
        check("version", listener.versionExpression(), listener.method(), report);
        check("lock", listener.lockExpression(), listener.method(), report);
    }

    static void check(String role, @Nullable String expression, Method method, Report report) {
        if (expression != null) {
            new KeyCheck(role, expression, method, report).check();
        }
    }

    /** Checks what keys and versions have in common first; one expression gives one finding, where one is enough. */
    private void check() {
        checkPayload();
        String changing = changingPart();
        if (changing != null) {
            add(
                    StartupCheck.UNSTABLE_KEY,
                    "uses %s, which is another one at every delivery.".formatted(changing),
                    REMEDIES.get(this.role));
        } else if (!this.role.equals("lock") && !usesMessage(this.withoutTexts)) {
            add(
                    StartupCheck.AMBIGUOUS_KEY,
                    "is the same for all messages, as it uses no variable.",
                    REMEDIES.get(this.role));
        } else if (!lacksProperty()) {
            switch (this.role) {
                case "key" -> checkKey();
                case "version" -> checkVersion();
                default -> checkType();
            }
        }
    }

    private static boolean usesMessage(String code) {
        return code.contains("#") || code.contains("@");
    }

    private void add(StartupCheck check, String what, String action) {
        this.report.add(
                this.role.equals("lock") ? StartupCheck.LOCK : check,
                "Its %s expression '%s' %s".formatted(this.role, this.expression, what),
                action);
    }

    /** A custom argument resolver may give the listener something that is not part of the message. */
    private void checkPayload() {
        List<String> names = this.method.parameterNames();
        List<String> payloads = this.method.payloads().stream()
                .filter(parameter -> parameter < names.size() && !ENVELOPES.contains(typeOf(parameter)))
                .map(names::get)
                .toList();
        if (payloads.size() > 1 && !payloads.get(0).equals("payload") && uses("payload")) {
            add(
                    StartupCheck.AMBIGUOUS_KEY,
                    "uses #payload, which may be any of its parameters %s.".formatted(String.join(", ", payloads)),
                    "Put @Payload before the one that is the message's, or write its own name in place of #payload.");
        }
    }

    private @Nullable String changingPart() {
        Matcher changing = CHANGING.matcher(this.expression);
        if (changing.find()) {
            return "'" + changing.group() + "'";
        }
        String minted = mintedHeader();
        if (minted != null) {
            return "the header '%s' that is set in the consumer".formatted(minted);
        }
        return WHOLE.matcher(this.code).find() ? "a record or headers as a whole" : null;
    }

    /** Such a header of a {@code Message}, or the argument that takes one. */
    private @Nullable String mintedHeader() {
        Matcher minted = MINTED_OF_MESSAGE.matcher(this.code);
        if (minted.find() && !this.method.payloadNames().contains(minted.group(1))) {
            return minted.group(2);
        }
        List<String> names = this.method.parameterNames();
        for (int i = 0; i < names.size(); i++) {
            Header header = AnnotatedElementUtils.findMergedAnnotation(
                    this.method.method().getParameters()[i], Header.class);
            String name = (header == null || header.name().isEmpty()) ? names.get(i) : header.name();
            if (header != null && MINTED.contains(name) && uses(names.get(i))) {
                return name;
            }
        }
        return null;
    }

    private boolean uses(String variable) {
        return Pattern.compile("#" + variable + "\\b").matcher(this.code).find();
    }

    /** Whether the payload's class has no such property. A subclass or a map may have more; a batch, elements or not. */
    private boolean lacksProperty() {
        Matcher matcher = PROPERTY.matcher(this.withoutTexts);
        while (matcher.find()) {
            Class<?> type = typeOf(matcher.group(1));
            String name = matcher.group(2);
            boolean definite = (type == String.class || !type.getName().startsWith("java."))
                    && this.method.payload().toClass() == type
                    && !Modifier.isAbstract(type.getModifiers())
                    && !Map.class.isAssignableFrom(type);
            if (definite && !hasMember(type, name)) {
                Set<String> properties = new TreeSet<>();
                ReflectionUtils.doWithFields(
                        type,
                        field -> properties.add(field.getName()),
                        field -> !Modifier.isStatic(field.getModifiers()));
                add(
                        StartupCheck.KEY_EXPRESSION,
                        "reads '%s', but %s has no property '%s'.".formatted(matcher.group(), type.getName(), name),
                        (type == String.class)
                                ? "For JSON text, use #jsonPath(#payload, '$.%s').".formatted(name)
                                : "Use one that it has: %s.".formatted(String.join(", ", properties)));
                return true;
            }
        }
        return false;
    }

    private static boolean hasMember(Class<?> type, String name) {
        String capitalized = StringUtils.capitalize(name);
        return ReflectionUtils.findField(type, name) != null
                || Stream.of(name, "get" + capitalized, "is" + capitalized)
                        .anyMatch(method -> ClassUtils.hasAtLeastOneMethodWithName(type, method));
    }

    /** The type of a variable, if it is the payload and not a record or {@code Message}. */
    private Class<?> typeOf(String variable) {
        boolean known = this.method.payloadNames().contains(variable) && !ENVELOPES.contains(this.payloadType);
        return known ? this.payloadType : Object.class;
    }

    /** The type of {@code #payload}, {@code #payload.id} and the like, as far as it is known. */
    private Class<?> type() {
        String[] steps = this.code.substring(1).replace("()", "").split("\\.");
        Class<?> type = typeOf(steps[0]);
        for (int i = 1; i < steps.length; i++) {
            Class<?> owner = type;
            type = Map.class.isAssignableFrom(owner)
                    ? Object.class
                    : Stream.of("get" + StringUtils.capitalize(steps[i]), steps[i])
                            .map(name -> ClassUtils.getMethodIfAvailable(owner, name))
                            .filter(Objects::nonNull)
                            .findFirst()
                            .<Class<?>>map(Method::getReturnType)
                            .orElse(Object.class);
        }
        return type;
    }

    private void checkType() {
        Class<?> type = type();
        if (KeyText.isNeverKey(type)) {
            add(
                    StartupCheck.KEY_EXPRESSION,
                    "gives a %s, whose text may differ between deliveries.".formatted(type.getTypeName()),
                    "Make it a text, a number or a UUID, by a part that tells messages apart, as in '%s.id'."
                            .formatted(this.expression));
        }
    }

    private void checkVersion() {
        Class<?> type = type();
        if (NO_VERSIONS.contains(ClassUtils.resolvePrimitiveIfNecessary(type))) {
            add(
                    StartupCheck.KEY_EXPRESSION,
                    "gives a %s, which is never a version.".formatted(type.getTypeName()),
                    "Make it a whole number, such as a long, or a point in time, such as an Instant.");
        }
        if (OFFSET_OR_TIME.matcher(this.code).find()) {
            add(
                    StartupCheck.AMBIGUOUS_KEY,
                    "uses the record's offset or timestamp, and a copy of an old state gets a new one.",
                    REMEDIES.get(this.role));
        }
    }

    private void checkKey() {
        checkType();
        if (OFFSET.matcher(this.code).find()) {
            if (!this.code.contains(".partition")) {
                add(
                        StartupCheck.AMBIGUOUS_KEY,
                        "uses the offset without the partition, and every partition has the same offsets.",
                        "Write @IdempotentListener(key = \"#coordinates\"), or better take an id from the message.");
            }
        } else if (!usesMessage(SHARED.matcher(this.withoutTexts).replaceAll(""))) {
            add(
                    StartupCheck.AMBIGUOUS_KEY,
                    "uses nothing of the message but its topic, partition or timestamp, which others have as well.",
                    REMEDIES.get(this.role));
        }
    }
}
