package dev.idempotency.check;

import dev.idempotency.Check;
import dev.idempotency.check.Findings.Report;
import dev.idempotency.check.MessageParts.Carrier;
import dev.idempotency.check.MessageParts.Part;
import dev.idempotency.definition.ProtectedListener;
import dev.idempotency.key.KeyText;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.springframework.kafka.support.KafkaHeaders;
import org.springframework.messaging.MessageHeaders;

/**
 * Checks that a key expression gives the same key at every delivery, and another one for every message; and that a version
 * expression gives what the producer has given the state.
 */
final class KeyCheck {

    private static final String KEY_REMEDY = "Take what the producer has given the message: a part of the payload or a"
            + " header of the record, as in @IdempotentListener(key = \"#headers['message-id']\").";

    private static final String VERSION_REMEDY = "Take what the producer has given the state: a number that grows with"
            + " every change or the time of the change, as in @IdempotentListener(version = \"#payload.version\").";

    /** Headers that the consumer sets, anew for every delivery. */
    private static final Set<String> MINTED =
            Set.of(MessageHeaders.ID, MessageHeaders.TIMESTAMP, KafkaHeaders.DELIVERY_ATTEMPT);

    private static final Pattern CHANGING = Pattern.compile("kafka_deliveryAttempt|retry_topic-(attempts|backoff)"
            + "|\\b(randomUUID|currentTimeMillis|nanoTime|now|random|generateId|currentThread|getLocalHost)\\s*\\("
            + "|\\b(hashCode|identityHashCode|identityToString)\\s*\\(|\\bjava\\.util\\.Objects\\)\\.hash\\s*\\("
            + "|\\bjava\\.(util|security)\\.[\\w.]*Random\\w*|\\bnew\\s+java\\.util\\.Date\\s*\\(\\s*\\)"
            + "|\\bjava\\.time\\.(Clock|InstantSource)\\b");

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

    private final String role;
    private final String expression;
    private final String remedy;
    private final MessageParts message;
    private final List<Part> parts;
    private final Report report;

    private KeyCheck(String role, String expression, ProtectedListener listener, Report report) {
        this.role = role;
        this.expression = expression;
        this.remedy = role.equals("key") ? KEY_REMEDY : VERSION_REMEDY;
        this.message = new MessageParts(expression, listener);
        this.parts = this.message.parts();
        this.report = report;
    }

    static void check(ProtectedListener listener, Report report) {
        if (listener.keyExpression() != null) {
            KeyCheck check = new KeyCheck("key", listener.keyExpression(), listener, report);
            if (check.isDefinite()) {
                check.checkKey();
            }
        }
        if (listener.versionExpression() != null) {
            KeyCheck check = new KeyCheck("version", listener.versionExpression(), listener, report);
            if (check.isDefinite()) {
                check.checkVersion();
            }
        }
    }

    private void add(Check check, String what, String action) {
        this.report.add(check, "Its %s expression '%s' %s".formatted(this.role, this.expression, what), action);
    }

    /** Checks what keys and versions have in common; one expression gives one finding, where one is enough. */
    private boolean isDefinite() {
        List<String> possible = this.message.possiblePayloads();
        if (!possible.isEmpty()
                && this.parts.stream().anyMatch(part -> part.variable().equals("payload"))) {
            // A custom argument resolver may give the listener something that is not part of the message.
            add(
                    Check.AMBIGUOUS_KEY,
                    "uses #payload, which may be any of its parameters %s.".formatted(String.join(", ", possible)),
                    "Put @Payload before the one that is the message's, or write its own name in place of #payload.");
        }
        String changing = changingPart();
        if (changing != null) {
            add(
                    Check.UNSTABLE_KEY,
                    "uses %s, which is another one at every delivery.".formatted(changing),
                    this.remedy);
            return false;
        }
        if (lacksProperty()) {
            return false;
        }
        boolean constant = this.parts.isEmpty() && !this.message.usesBeans();
        if (constant) {
            add(Check.AMBIGUOUS_KEY, "is the same for all messages, as it uses no variable.", this.remedy);
        }
        return !constant;
    }

    private @Nullable String changingPart() {
        Matcher matcher = CHANGING.matcher(this.expression);
        if (matcher.find()) {
            return "'" + matcher.group() + "'";
        }
        for (Part part : this.parts) {
            if (part.carrier() == Carrier.HEADERS && MINTED.contains(part.name())) {
                return "the header '%s' that is set in the consumer".formatted(part.name());
            }
            if (part.isWholeCarrier()) {
                return "'%s' as a whole".formatted(part.text());
            }
        }
        return null;
    }

    private boolean lacksProperty() {
        for (Part part : this.parts) {
            List<String> properties = this.message.propertiesWithout(part);
            if (!properties.isEmpty()) {
                Class<?> type = this.message.type(part.variable());
                add(
                        Check.KEY_EXPRESSION,
                        "reads '%s', but %s has no property '%s'.".formatted(part.text(), type.getName(), part.name()),
                        (type == String.class)
                                ? "For JSON text, use #jsonPath(#payload, '$.%s').".formatted(part.name())
                                : "Use one that it has: %s.".formatted(String.join(", ", properties)));
                return true;
            }
        }
        return false;
    }

    private void checkVersion() {
        this.parts.stream()
                .filter(part ->
                        part.isOfRecord() && Set.of("timestamp", "offset").contains(part.name()))
                .findFirst()
                .ifPresent(part -> add(
                        Check.AMBIGUOUS_KEY,
                        "uses '%s', which is of the record and not of the state in it: a copy of an old state gets a new one."
                                .formatted(part.text()),
                        VERSION_REMEDY));
    }

    private void checkKey() {
        Class<?> type = this.message.type(this.expression.strip().substring(1));
        if (this.expression.strip().startsWith("#") && KeyText.isNeverKey(type)) {
            add(
                    Check.KEY_EXPRESSION,
                    "gives a %s, whose text may differ between deliveries.".formatted(type.getTypeName()),
                    "Make it a text, a number or a UUID, by a part that tells messages apart, as in '%s.id'."
                            .formatted(this.expression));
        }
        Set<String> ofRecord = this.parts.stream()
                .filter(Part::isOfRecord)
                .map(Part::name)
                .collect(Collectors.toCollection(TreeSet::new));
        if (ofRecord.contains("offset")) {
            if (!ofRecord.contains("partition")) {
                add(
                        Check.AMBIGUOUS_KEY,
                        "uses the offset without the partition, and every partition has the same offsets.",
                        "Write @IdempotentListener(key = \"#coordinates\"), or better take an id from the message.");
            }
        } else if (!this.message.usesBeans()
                && SHARED.containsAll(ofRecord)
                && this.parts.stream().allMatch(Part::isOfRecord)) {
            add(
                    Check.AMBIGUOUS_KEY,
                    "uses nothing of the message but its %s, which others have as well."
                            .formatted(String.join(" and ", ofRecord)),
                    KEY_REMEDY);
        }
    }
}
