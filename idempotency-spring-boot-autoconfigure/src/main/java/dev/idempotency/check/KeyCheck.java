package dev.idempotency.check;

import dev.idempotency.Check;
import dev.idempotency.definition.ProtectedListener;
import java.lang.reflect.Method;
import java.lang.reflect.Parameter;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.jspecify.annotations.Nullable;
import org.springframework.core.DefaultParameterNameDiscoverer;
import org.springframework.core.ParameterNameDiscoverer;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.kafka.listener.adapter.ConsumerRecordMetadata;
import org.springframework.kafka.retrytopic.RetryTopicHeaders;
import org.springframework.kafka.support.KafkaHeaders;
import org.springframework.messaging.Message;
import org.springframework.messaging.MessageHeaders;
import org.springframework.messaging.handler.annotation.Header;
import org.springframework.messaging.handler.annotation.Headers;

/**
 * Whether a key expression gives the same key at every delivery, and another one for every message; and whether a version
 * expression gives what the producer has given the state, rather than what its record got on the way.
 */
final class KeyCheck implements ListenerCheck {

    private static final ParameterNameDiscoverer NAMES = new DefaultParameterNameDiscoverer();

    private static final String REMEDY = "Take what the producer has given the message: a part of the payload or a"
            + " header of the record, as in @IdempotentListener(key = \"#headers['message-id']\").";

    private static final String VERSION_REMEDY = "Take what the producer has given the state: a number that grows with"
            + " every change or the time of the change, as in @IdempotentListener(version = \"#payload.version\").";

    /** Made in the consumer, anew for every delivery. */
    private static final List<String> MINTED = List.of(
            MessageHeaders.ID,
            MessageHeaders.TIMESTAMP,
            KafkaHeaders.DELIVERY_ATTEMPT,
            RetryTopicHeaders.DEFAULT_HEADER_ATTEMPTS,
            RetryTopicHeaders.DEFAULT_HEADER_BACKOFF_TIMESTAMP);

    private static final Pattern CHANGING = Pattern.compile(
            "kafka_deliveryAttempt|\\bDELIVERY_ATTEMPT\\b"
                    + "|retry_topic-attempts|retry_topic-backoff-timestamp"
                    + "|\\b(randomUUID|currentTimeMillis|nanoTime|now|random|hashCode|identityHashCode)\\s*\\("
                    + "|\\bnew\\s+java\\.util\\.Date\\s*\\(|@\\w+\\s*\\??\\.\\s*(millis|instant)\\s*\\("
                    + "|\\bjava\\.time\\.(Clock|InstantSource)\\b"
                    + "|\\bjava\\.util\\.Calendar\\)\\s*\\.\\s*getInstance\\s*\\(|\\bnew\\s+java\\.util\\.GregorianCalendar\\s*\\(\\s*\\)");

    private static final String MINTED_PATH =
            "(\\?\\.|\\.)?(\\[?'(id|timestamp)'\\]?|get\\('(id|timestamp)'\\)|getId\\(\\)|getTimestamp\\(\\)|(id|timestamp)\\b)";

    private static final Pattern OFFSET = Pattern.compile("#record\\??\\.offset\\b");
    private static final Pattern PARTITION = Pattern.compile("#record\\??\\.partition\\b");

    /** A retry or a republication gets others, and those of two states may be the same. */
    private static final String OF_RECORD =
            "#(%s)\\s*\\??\\.\\s*(timestamp|offset)\\b|kafka_receivedTimestamp|kafka_offset\\b";

    /** The same, as headers of the converted message have them. */
    private static final Set<String> HEADERS_OF_RECORD =
            Set.of(KafkaHeaders.RECEIVED_TIMESTAMP, KafkaHeaders.TIMESTAMP, KafkaHeaders.OFFSET);

    @Override
    public void check(ProtectedListener listener, Report report) {
        if (listener.keyExpression() != null) {
            checkKey(listener.keyExpression(), listener, report);
        }
        if (listener.versionExpression() != null) {
            checkVersion(listener.versionExpression(), listener, report);
        }
    }

    private static void checkVersion(String expression, ProtectedListener listener, Report report) {
        String changing = changingPart(expression, listener.method());
        if (changing != null) {
            report.add(
                    Check.UNSTABLE_KEY,
                    "Its version expression '%s' uses %s, which is another one at every delivery."
                            .formatted(expression, changing),
                    VERSION_REMEDY);
        }
        String ofRecord = partOfRecord(expression, listener.method());
        if (ofRecord != null) {
            report.add(
                    Check.AMBIGUOUS_KEY,
                    ("Its version expression '%s' uses '%s', which is of the record and not of the state in it: two records"
                                    + " may have the same, a copy of an old one gets a new one, and a topic that is"
                                    + " created anew begins at the beginning.")
                            .formatted(expression, ofRecord),
                    VERSION_REMEDY);
        } else if (!expression.contains("#") && !expression.contains("@")) {
            report.add(
                    Check.AMBIGUOUS_KEY,
                    "Its version expression '%s' is the same for all messages, as it uses no variable."
                            .formatted(expression),
                    VERSION_REMEDY);
        }
    }

    private static @Nullable String partOfRecord(String expression, Method method) {
        List<String> records = new ArrayList<>(List.of("record", "coordinates"));
        List<String> parts = new ArrayList<>();
        String[] names = NAMES.getParameterNames(method);
        Parameter[] parameters = method.getParameters();
        for (int i = 0; names != null && i < names.length; i++) {
            Class<?> type = parameters[i].getType();
            Header header = AnnotatedElementUtils.findMergedAnnotation(parameters[i], Header.class);
            if (ConsumerRecord.class.isAssignableFrom(type) || type == ConsumerRecordMetadata.class) {
                records.add(Pattern.quote(names[i]));
            } else if (header != null && HEADERS_OF_RECORD.contains(header.name())) {
                parts.add("#" + Pattern.quote(names[i]) + "\\b");
            }
        }
        parts.add(OF_RECORD.formatted(String.join("|", records)));
        var matcher = Pattern.compile(String.join("|", parts)).matcher(expression);
        return matcher.find() ? matcher.group() : null;
    }

    private static void checkKey(String expression, ProtectedListener listener, Report report) {
        String changing = changingPart(expression, listener.method());
        if (changing != null) {
            report.add(
                    Check.UNSTABLE_KEY,
                    "Its key expression '%s' uses %s, which is another one at every delivery."
                            .formatted(expression, changing),
                    REMEDY);
        }
        if (!expression.contains("#") && !expression.contains("@")) {
            report.add(
                    Check.AMBIGUOUS_KEY,
                    "Its key expression '%s' is the same for all messages, as it uses no variable."
                            .formatted(expression),
                    REMEDY);
        } else if (OFFSET.matcher(expression).find()
                && !PARTITION.matcher(expression).find()) {
            report.add(
                    Check.AMBIGUOUS_KEY,
                    "Its key expression '%s' uses the offset without the partition, and every partition has the same"
                                    .formatted(expression)
                            + " offsets.",
                    "Write @IdempotentListener(key = \"#coordinates\"), or better take an id from the message.");
        }
    }

    private static @Nullable String changingPart(String expression, Method method) {
        var matcher = CHANGING.matcher(expression);
        if (matcher.find()) {
            return "'" + matcher.group() + "'";
        }
        String[] names = NAMES.getParameterNames(method);
        Parameter[] parameters = method.getParameters();
        for (int i = 0; names != null && i < names.length; i++) {
            String changing = changingPart(expression, names[i], parameters[i]);
            if (changing != null) {
                return changing;
            }
        }
        return null;
    }

    private static @Nullable String changingPart(String expression, String name, Parameter parameter) {
        String variable = "#" + Pattern.quote(name) + "\\b";
        Header header = AnnotatedElementUtils.findMergedAnnotation(parameter, Header.class);
        if (header != null && MINTED.contains(header.name()) && finds(variable, expression)) {
            return "the header '%s' that is made in the consumer".formatted(header.name());
        }
        boolean headers = MessageHeaders.class.isAssignableFrom(parameter.getType())
                || (Map.class.isAssignableFrom(parameter.getType())
                        && AnnotatedElementUtils.hasAnnotation(parameter, Headers.class));
        boolean message = Message.class.isAssignableFrom(parameter.getType());
        if ((headers && finds(variable + MINTED_PATH, expression))
                || (message && finds(variable + "\\??\\.(headers\\b|getHeaders\\(\\))" + MINTED_PATH, expression))) {
            return "the message's id or timestamp that are made in the consumer";
        }
        return null;
    }

    private static boolean finds(String regex, String expression) {
        return Pattern.compile(regex).matcher(expression).find();
    }
}
