package dev.idempotency.internal.check;

import dev.idempotency.StartupCheck;
import dev.idempotency.internal.check.Findings.Report;
import dev.idempotency.internal.definition.ListenerMethod;
import dev.idempotency.internal.definition.ProtectedListener;
import dev.idempotency.internal.key.KeyText;
import dev.idempotency.internal.key.VersionResolver;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Parameter;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Consumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.jspecify.annotations.Nullable;
import org.springframework.core.DefaultParameterNameDiscoverer;
import org.springframework.core.ResolvableType;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.kafka.listener.adapter.ConsumerRecordMetadata;
import org.springframework.kafka.support.KafkaHeaders;
import org.springframework.messaging.Message;
import org.springframework.messaging.MessageHeaders;
import org.springframework.messaging.handler.annotation.Header;
import org.springframework.messaging.handler.annotation.Headers;
import org.springframework.messaging.handler.annotation.Payload;
import org.springframework.util.ClassUtils;
import org.springframework.util.ReflectionUtils;
import org.springframework.util.StringUtils;

/**
 * Checks that a key expression gives the same key at every delivery, and another one for every message; and that a version
 * expression gives what the producer has given the state. It looks at the text of the expression in its usual notations.
 */
final class KeyCheck {

    private static final String KEY_REMEDY = "Take what the producer has given the message: a part of the payload or a"
            + " header of the record, as in @IdempotentListener(key = \"#headers['message-id']\").";

    private static final String VERSION_REMEDY = "Take what the producer has given the state: a number that grows with"
            + " every change or the time of the change, as in @IdempotentListener(version = \"#payload.version\").";

    private static final String LOCK_REMEDY = "Take what names the thing that must not be changed by two at once, as in"
            + " @IdempotentListener(lock = \"'customer/' + #payload.customerId\").";

    private static final Map<String, String> REMEDIES =
            Map.of("key", KEY_REMEDY, "version", VERSION_REMEDY, "lock", LOCK_REMEDY);

    /** The name for arguments of type {@code Message}. */
    private static final String MESSAGE = "#__message";

    private static final Pattern CHANGING = Pattern.compile("kafka_deliveryAttempt|retry_topic-(attempts|backoff)"
            + "|\\b(randomUUID|currentTimeMillis|nanoTime|now|random|generateId|currentThread|getLocalHost)\\s*\\("
            + "|\\b(hashCode|identityHashCode|identityToString)\\s*\\(|\\bjava\\.util\\.Objects\\)\\.hash\\s*\\("
            + "|\\bjava\\.(util|security)\\.[\\w.]*Random\\w*|\\bnew\\s+java\\.util\\.Date\\s*\\(\\s*\\)"
            + "|\\bjava\\.time\\.(Clock|InstantSource)\\b");

    /** Headers that the consumer sets, anew for every delivery. */
    private static final Pattern MINTED = Pattern.compile(
            MESSAGE + "\\.headers(\\.|\\[')(id|timestamp|kafka_deliveryAttempt|retry_topic-[\\w-]+)(?![\\w-])");

    /** Headers that are parts of the record. */
    private static final Map<String, String> OF_RECORD = Map.of(
            KafkaHeaders.OFFSET, "offset",
            KafkaHeaders.RECEIVED_PARTITION, "partition",
            KafkaHeaders.RECEIVED_TOPIC, "topic",
            KafkaHeaders.RECEIVED_TIMESTAMP, "timestamp");

    /** Not as the argument of a method, and not compared. */
    private static final Pattern WHOLE = Pattern.compile(
            "(?<![(,])(#record|#headers|" + MESSAGE + ")(\\.headers)?(\\.toString\\(\\))?(?![\\w.\\[=!])");

    private static final Pattern OFFSET = Pattern.compile("#(record|coordinates)\\.offset\\b");

    private static final Pattern OFFSET_OR_TIME = Pattern.compile("#(record|coordinates)\\.(offset|timestamp)\\b");

    /** Parts of a record that many records share. */
    private static final Pattern SHARED = Pattern.compile("#(record|coordinates)\\."
            + "(topic|partition|timestamp|timestampType|leaderEpoch|serializedKeySize|serializedValueSize)\\b");

    private static final Pattern PROPERTY = Pattern.compile("#(\\w+)\\.([A-Za-z_]\\w*)");

    private final String role;
    private final String expression;
    private final String remedy;
    private final Report report;
    private final Map<String, Class<?>> types = new HashMap<>();
    private final List<String> payloads = new ArrayList<>();
    private boolean batch;

    /** The expression in one notation, with the same names for arguments that are the same, and without its texts. */
    private String code;

    private KeyCheck(String role, String expression, ProtectedListener listener, Report report) {
        this.role = role;
        this.expression = expression;
        this.remedy = REMEDIES.get(role);
        this.report = report;
        this.code = expression
                .replaceAll("\\s+", "")
                .replace("?.", ".")
                .replace('"', '\'')
                .replace("getHeaders()", "headers")
                .replace("headers()", "headers")
                .replace(".getId()", ".id")
                .replace(".getTimestamp()", ".timestamp")
                .replaceAll("\\.get\\('([^']*)'[^)]*\\)", "['$1']")
                .replaceAll("\\[(\\w+)\\]", "['$1']");
        String[] names = new DefaultParameterNameDiscoverer().getParameterNames(listener.method());
        Parameter[] parameters = listener.method().getParameters();
        for (int i = 0; names != null && i < names.length; i++) {
            addParameter(names[i], parameters[i], ResolvableType.forMethodParameter(listener.method(), i));
        }
        OF_RECORD.forEach((header, part) -> this.code =
                this.code.replaceAll(MESSAGE + "\\.headers(\\.|\\[')" + header + "('\\])?", "#record." + part));
        if (this.payloads.size() < 2 || this.payloads.get(0).equals("payload")) {
            this.payloads.clear();
        }
        ResolvableType payload = listener.payload();
        if (payload != null && this.payloads.isEmpty() && this.types.containsValue(elementOf(payload))) {
            this.types.put("payload", elementOf(payload));
        } else {
            this.types.remove("payload");
        }
    }

    /** In a batch, each message has its element of an argument. */
    private void addParameter(String name, Parameter parameter, ResolvableType declared) {
        Class<?> element = elementOf(declared);
        Header header = AnnotatedElementUtils.findMergedAnnotation(parameter, Header.class);
        if (header != null) {
            rename(name, MESSAGE + ".headers['%s']".formatted(header.name().isEmpty() ? name : header.name()));
        } else if (element == ConsumerRecord.class || element == ConsumerRecordMetadata.class) {
            rename(name, "#record");
        } else if (Message.class.isAssignableFrom(element)) {
            rename(name, MESSAGE);
        } else if (element == MessageHeaders.class || AnnotatedElementUtils.hasAnnotation(parameter, Headers.class)) {
            rename(name, MESSAGE + ".headers");
        } else if (!ListenerMethod.isInfrastructure(element)) {
            this.types.put(name, element);
            this.payloads.add(name);
            this.batch |= element != declared.toClass();
            if (AnnotatedElementUtils.hasAnnotation(parameter, Payload.class)) {
                // It is clear then, whatever the others are.
                this.payloads.add(0, "payload");
            }
        }
    }

    private static Class<?> elementOf(ResolvableType type) {
        if (type.isArray()) {
            return type.getComponentType().toClass();
        }
        ResolvableType collection = type.as(Collection.class);
        return (collection != ResolvableType.NONE) ? collection.getGeneric(0).toClass() : type.toClass();
    }

    /** Variables of the message itself win over arguments of the same name. */
    private void rename(String argument, String name) {
        if (!Set.of("record", "coordinates", "headers", "payload").contains(argument)) {
            this.code = this.code.replaceAll("#" + argument + "\\b", Matcher.quoteReplacement(name));
        }
    }

    static void check(ProtectedListener listener, Report report) {
        String key = listener.keyExpression();
        if (key != null) {
            new KeyCheck("key", key, listener, report).check(KeyCheck::checkKey);
        }
        String version = listener.versionExpression();
        if (version != null) {
            new KeyCheck("version", version, listener, report).check(KeyCheck::checkVersion);
        }
        String lock = listener.lockExpression();
        if (lock != null) {
            new KeyCheck("lock", lock, listener, report).check(KeyCheck::checkType);
        }
    }

    /** Checks what keys and versions have in common first; one expression gives one finding, where one is enough. */
    private void check(Consumer<KeyCheck> rest) {
        checkPayload();
        String changing = changingPart();
        String withoutTexts = this.code.replaceAll("'[^']*'", "");
        if (changing != null) {
            add(
                    StartupCheck.UNSTABLE_KEY,
                    "uses %s, which is another one at every delivery.".formatted(changing),
                    this.remedy);
        } else if (!this.role.equals("lock") && !withoutTexts.contains("#") && !withoutTexts.contains("@")) {
            add(StartupCheck.AMBIGUOUS_KEY, "is the same for all messages, as it uses no variable.", this.remedy);
        } else if (!lacksProperty()) {
            rest.accept(this);
        }
    }

    private void checkVersion() {
        Class<?> type = type();
        if (VersionResolver.isNeverVersion(type)) {
            add(
                    StartupCheck.KEY_EXPRESSION,
                    "gives a %s, which is never a version.".formatted(type.getTypeName()),
                    "Make it a whole number, such as a long, or a point in time, such as an Instant.");
        }
        if (OFFSET_OR_TIME.matcher(this.code).find()) {
            add(
                    StartupCheck.AMBIGUOUS_KEY,
                    "uses the record's offset or timestamp, and a copy of an old state gets a new one.",
                    VERSION_REMEDY);
        }
    }

    private void add(StartupCheck check, String what, String action) {
        this.report.add(
                this.role.equals("lock") ? StartupCheck.LOCK : check,
                "Its %s expression '%s' %s".formatted(this.role, this.expression, what),
                action);
    }

    /** A custom argument resolver may give the listener something that is not part of the message. */
    private void checkPayload() {
        if (!this.payloads.isEmpty() && this.code.matches(".*#payload\\b.*")) {
            add(
                    StartupCheck.AMBIGUOUS_KEY,
                    "uses #payload, which may be any of its parameters %s.".formatted(String.join(", ", this.payloads)),
                    "Put @Payload before the one that is the message's, or write its own name in place of #payload.");
        }
    }

    private @Nullable String changingPart() {
        Matcher changing = CHANGING.matcher(this.expression);
        if (changing.find()) {
            return "'" + changing.group() + "'";
        }
        Matcher minted = MINTED.matcher(this.code);
        if (minted.find()) {
            return "the header '%s' that is set in the consumer".formatted(minted.group(2));
        }
        return WHOLE.matcher(this.code).find() ? "a record, a Message or headers as a whole" : null;
    }

    /** Whether the class of an argument has no such property. A subclass or a map may have more; a batch, elements or not. */
    private boolean lacksProperty() {
        Matcher matcher = PROPERTY.matcher(this.code.replaceAll("'[^']*'", ""));
        while (matcher.find()) {
            Class<?> type = this.types.getOrDefault(matcher.group(1), Object.class);
            String name = matcher.group(2);
            boolean definite = (type == String.class || !type.getName().startsWith("java."))
                    && !this.batch
                    && !Modifier.isAbstract(type.getModifiers())
                    && !Map.class.isAssignableFrom(type);
            Set<String> properties = new TreeSet<>();
            ReflectionUtils.doWithFields(
                    type, field -> properties.add(field.getName()), field -> !Modifier.isStatic(field.getModifiers()));
            Set<String> members = new HashSet<>(properties);
            ReflectionUtils.doWithMethods(type, method -> members.add(method.getName()));
            String capitalized = StringUtils.capitalize(name);
            if (definite
                    && Stream.of(name, "get" + capitalized, "is" + capitalized).noneMatch(members::contains)) {
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

    /** The type of {@code #payload}, {@code #payload.id} and the like, as far as it is known. */
    private Class<?> type() {
        String[] steps = this.code.substring(1).replace("()", "").split("\\.");
        Class<?> type = this.types.getOrDefault(steps[0], Object.class);
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

    private void checkKey() {
        checkType();
        String others = SHARED.matcher(this.code.replaceAll("'[^']*'", "")).replaceAll("");
        boolean offset = OFFSET.matcher(this.code).find();
        boolean alone = !OFFSET.matcher(others).replaceAll("").contains("#") && !others.contains("@");
        // An argument that is the offset may be one part of a key among others.
        if (offset && (alone || this.expression.contains(".offset"))) {
            if (!this.code.contains(".partition")) {
                add(
                        StartupCheck.AMBIGUOUS_KEY,
                        "uses the offset without the partition, and every partition has the same offsets.",
                        "Write @IdempotentListener(key = \"#coordinates\"), or better take an id from the message.");
            }
        } else if (alone && !offset) {
            add(
                    StartupCheck.AMBIGUOUS_KEY,
                    "uses nothing of the message but its topic, partition or timestamp, which others have as well.",
                    KEY_REMEDY);
        }
    }
}
