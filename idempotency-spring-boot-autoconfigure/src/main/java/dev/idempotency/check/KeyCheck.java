package dev.idempotency.check;

import dev.idempotency.Check;
import dev.idempotency.check.MessageParameters.Carrier;
import dev.idempotency.check.MessagePaths.Path;
import dev.idempotency.definition.ProtectedListener;
import dev.idempotency.key.KeyText;
import dev.idempotency.key.VersionResolver;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.springframework.kafka.retrytopic.RetryTopicHeaders;
import org.springframework.kafka.support.KafkaHeaders;
import org.springframework.messaging.MessageHeaders;

/**
 * Checks that a key expression gives the same key at every delivery, and another one for every message; and that a version
 * expression gives what the producer has given the state.
 */
final class KeyCheck implements ListenerCheck {

    private static final String KEY_REMEDY = "Take what the producer has given the message: a part of the payload or a"
            + " header of the record, as in @IdempotentListener(key = \"#headers['message-id']\").";

    private static final String VERSION_REMEDY = "Take what the producer has given the state: a number that grows with"
            + " every change or the time of the change, as in @IdempotentListener(version = \"#payload.version\").";

    /** Made in the consumer, anew for every delivery. */
    private static final Set<String> MINTED = Set.of(
            MessageHeaders.ID,
            MessageHeaders.TIMESTAMP,
            KafkaHeaders.DELIVERY_ATTEMPT,
            RetryTopicHeaders.DEFAULT_HEADER_ATTEMPTS,
            RetryTopicHeaders.DEFAULT_HEADER_BACKOFF_TIMESTAMP);

    private static final Pattern CHANGING = Pattern.compile(
            "kafka_deliveryAttempt|\\bDELIVERY_ATTEMPT\\b"
                    + "|retry_topic-attempts|retry_topic-backoff-timestamp"
                    + "|\\b(randomUUID|currentTimeMillis|nanoTime|now|random|generateId|currentThread|getLocalHost)\\s*\\("
                    + "|\\b(hashCode|identityHashCode|nullSafeHashCode|identityToString|getIdentityHexString)\\s*\\("
                    + "|\\bjava\\.util\\.Objects\\)\\s*\\.\\s*hash\\s*\\("
                    + "|\\bjava\\.(util|security)\\.[\\w.]*Random\\w*|\\bProcessHandle\\b"
                    + "|\\bnew\\s+java\\.util\\.Date\\s*\\(\\s*\\)|@\\w+\\s*\\??\\.\\s*(millis|instant)\\s*\\("
                    + "|\\bjava\\.time\\.(Clock|InstantSource)\\b"
                    + "|\\bjava\\.util\\.Calendar\\)\\s*\\.\\s*getInstance\\s*\\(|\\bnew\\s+java\\.util\\.GregorianCalendar\\s*\\(\\s*\\)");

    /** Of a record: a retry or a republication gets new ones, and two states may share them. */
    private static final Set<String> TIMES_AND_OFFSETS =
            Set.of("timestamp", "offset", KafkaHeaders.RECEIVED_TIMESTAMP, KafkaHeaders.TIMESTAMP, KafkaHeaders.OFFSET);

    private static final Set<Carrier> RECORDS = Set.of(Carrier.RECORD, Carrier.METADATA, Carrier.COORDINATES);

    /** Parts of a record that many records share. */
    private static final Set<String> SHARED = Set.of(
            "topic",
            "partition",
            "offset",
            "timestamp",
            "timestampType",
            "leaderEpoch",
            "serializedKeySize",
            "serializedValueSize",
            "group");

    /** The same, as headers of the converted message have it. */
    private static final Map<String, String> SHARED_HEADERS = Map.of(
            KafkaHeaders.RECEIVED_TOPIC, "topic",
            KafkaHeaders.RECEIVED_PARTITION, "partition",
            KafkaHeaders.OFFSET, "offset",
            KafkaHeaders.RECEIVED_TIMESTAMP, "timestamp",
            KafkaHeaders.TIMESTAMP_TYPE, "timestampType",
            KafkaHeaders.GROUP_ID, "group");

    @Override
    public void check(ProtectedListener listener, Report report) {
        MessageParameters parameters = new MessageParameters(listener.method());
        if (listener.keyExpression() != null) {
            MessagePaths paths = MessagePaths.of(listener.keyExpression());
            if (isDefinite("key", listener.keyExpression(), KEY_REMEDY, paths, parameters, report)) {
                checkKey(listener.keyExpression(), paths, parameters, report);
            }
        }
        if (listener.versionExpression() != null) {
            MessagePaths paths = MessagePaths.of(listener.versionExpression());
            if (isDefinite("version", listener.versionExpression(), VERSION_REMEDY, paths, parameters, report)) {
                checkVersion(listener.versionExpression(), paths, parameters, report);
            }
        }
    }

    /** Checks what keys and versions have in common; one expression gives one finding, where one is enough. */
    private static boolean isDefinite(
            String role,
            String expression,
            String remedy,
            MessagePaths paths,
            MessageParameters parameters,
            Report report) {
        List<String> possible = parameters.possiblePayloads();
        if (!possible.isEmpty()
                && paths.paths().stream().anyMatch(path -> path.variable().equals("payload"))) {
            // A custom argument resolver may give the listener something that is not part of the message.
            report.add(
                    Check.AMBIGUOUS_KEY,
                    "Its %s expression '%s' uses #payload, which may be any of its parameters %s."
                            .formatted(role, expression, String.join(", ", possible)),
                    "Put @Payload before the one that is the message's, or write its own name in place of #payload.");
        }
        String changing = changingPart(expression, paths, parameters);
        if (changing != null) {
            report.add(
                    Check.UNSTABLE_KEY,
                    "Its %s expression '%s' uses %s, which is another one at every delivery."
                            .formatted(role, expression, changing),
                    remedy);
            return false;
        }
        for (Path path : paths.paths()) {
            List<String> properties = parameters.propertiesWithout(path);
            if (!properties.isEmpty()) {
                report.add(
                        Check.KEY_EXPRESSION,
                        "Its %s expression '%s' reads '%s', but %s has no property '%s'."
                                .formatted(
                                        role,
                                        expression,
                                        path,
                                        parameters.type(path.variable()).getName(),
                                        path.first()),
                        (parameters.type(path.variable()) == String.class)
                                ? "For JSON text, use #jsonPath(#payload, '$.%s').".formatted(path.first())
                                : "Use one that it has: %s.".formatted(String.join(", ", properties)));
                return false;
            }
        }
        checkType(role, expression, paths, parameters, report);
        if (paths.isConstant()) {
            report.add(
                    Check.AMBIGUOUS_KEY,
                    "Its %s expression '%s' is the same for all messages, as it uses no variable."
                            .formatted(role, expression),
                    remedy);
        }
        return !paths.isConstant();
    }

    private static void checkType(
            String role, String expression, MessagePaths paths, MessageParameters parameters, Report report) {
        Class<?> type = parameters.typeOf(expression);
        if (role.equals("version") && VersionResolver.isNeverVersion(type)) {
            report.add(
                    Check.KEY_EXPRESSION,
                    "Its version expression '%s' gives a %s, which is never a version."
                            .formatted(expression, type.getTypeName()),
                    "Make it a whole number, such as a long, or a point in time, such as an Instant.");
        } else if (role.equals("key") && paths.isOnly(expression) && KeyText.isNeverKey(type)) {
            report.add(
                    Check.KEY_EXPRESSION,
                    "Its key expression '%s' gives a %s, whose text may differ between deliveries."
                            .formatted(expression, type.getTypeName()),
                    "Make it a text, a number or a UUID, by a part that tells messages apart, as in '%s.id'."
                            .formatted(expression));
        }
    }

    private static void checkVersion(
            String expression, MessagePaths paths, MessageParameters parameters, Report report) {
        paths.paths().stream()
                .filter(path -> isAssignedByBroker(path, parameters))
                .findFirst()
                .ifPresent(path -> report.add(
                        Check.AMBIGUOUS_KEY,
                        ("Its version expression '%s' uses '%s', which is of the record and not of the state in it: two"
                                        + " records may have the same, a copy of an old one gets a new one, and a topic that"
                                        + " is created anew begins at the beginning.")
                                .formatted(expression, path),
                        VERSION_REMEDY));
    }

    private static boolean isAssignedByBroker(Path path, MessageParameters parameters) {
        return (RECORDS.contains(parameters.carrier(path.variable())) && TIMES_AND_OFFSETS.contains(path.first()))
                || TIMES_AND_OFFSETS.contains(parameters.header(path.variable()))
                || path.steps().stream()
                        .anyMatch(step -> step.startsWith("kafka_") && TIMES_AND_OFFSETS.contains(step));
    }

    private static void checkKey(String expression, MessagePaths paths, MessageParameters parameters, Report report) {
        List<String> parts = paths.paths().stream()
                .map(path -> partOfRecord(path, parameters))
                .toList();
        boolean shared = !paths.usesBeans() && SHARED.containsAll(parts);
        boolean offset = parts.contains("offset")
                && (shared || paths.paths().stream().anyMatch(path -> isOffset(path, parameters)));
        if (offset && !parts.contains("partition")) {
            report.add(
                    Check.AMBIGUOUS_KEY,
                    "Its key expression '%s' uses the offset without the partition, and every partition has the same"
                                    .formatted(expression)
                            + " offsets.",
                    "Write @IdempotentListener(key = \"#coordinates\"), or better take an id from the message.");
        } else if (shared && !offset) {
            report.add(
                    Check.AMBIGUOUS_KEY,
                    "Its key expression '%s' uses nothing of the message but its %s, which others have as well."
                            .formatted(expression, String.join(" and ", new TreeSet<>(parts))),
                    KEY_REMEDY);
        }
    }

    /** The part of its record that a path leads to, or nothing if that is not known, or something of the message. */
    private static String partOfRecord(Path path, MessageParameters parameters) {
        if (RECORDS.contains(parameters.carrier(path.variable()))) {
            return path.first();
        }
        return SHARED_HEADERS.getOrDefault(parameters.header(path.variable()), "");
    }

    private static boolean isOffset(Path path, MessageParameters parameters) {
        return RECORDS.contains(parameters.carrier(path.variable()))
                && path.first().equals("offset");
    }

    private static @Nullable String changingPart(String expression, MessagePaths paths, MessageParameters parameters) {
        var matcher = CHANGING.matcher(expression);
        if (matcher.find()) {
            return "'" + matcher.group() + "'";
        }
        return paths.paths().stream()
                .map(path -> changingPart(path, parameters))
                .filter(Objects::nonNull)
                .findFirst()
                .orElse(null);
    }

    private static @Nullable String changingPart(Path path, MessageParameters parameters) {
        String header = parameters.header(path.variable());
        if (MINTED.contains(header)) {
            return "the header '%s' that is made in the consumer".formatted(header);
        }
        Carrier carrier = parameters.carrier(path.variable());
        List<String> steps = path.steps();
        boolean ofMessage = carrier == Carrier.MESSAGE || carrier == Carrier.RECORD;
        boolean headers = ofMessage && path.first().equals("headers");
        String first = headers && steps.size() > 1 ? steps.get(1) : path.first();
        if (MINTED.contains(first) && (carrier == Carrier.HEADERS || (carrier == Carrier.MESSAGE && headers))) {
            return "the message's id or timestamp that are made in the consumer";
        }
        boolean whole = carrier != Carrier.NONE
                && carrier != Carrier.COORDINATES
                && (steps.isEmpty() || (headers && steps.size() == 1));
        return (path.asText() && (whole || carrier == Carrier.CALL)) ? "'%s' as a whole".formatted(path) : null;
    }
}
