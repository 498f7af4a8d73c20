package dev.idempotency.autoconfigure;

import dev.idempotency.database.RetentionLimit;
import dev.idempotency.inbox.InboxRecorderFactory;
import java.time.Duration;
import java.util.List;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.util.unit.DataSize;

/**
 * Settings under {@code idempotency.inbox}: which messages are kept, and for how long.
 *
 * @param enabled whether the messages of all listeners are kept, not only of those with inbox = "true"
 * @param maxPayload size of a record's value beyond which it is left out
 * @param retention how long messages are kept
 */
@ConfigurationProperties("idempotency.inbox")
public record InboxProperties(
        @DefaultValue("false") boolean enabled,
        @DefaultValue("1MB") DataSize maxPayload,

        @DefaultValue Retention retention) {

    private static final List<String> TYPE_HEADERS = List.of("message-type", "ce_type", "__TypeId__");
    private static final Duration SHORTEST_RETENTION = Duration.ofMinutes(1);
    private static final DataSize LARGEST_PAYLOAD = DataSize.ofGigabytes(1);

    public InboxProperties {
        if (maxPayload.isNegative() || maxPayload.compareTo(LARGEST_PAYLOAD) > 0) {
            throw new IllegalArgumentException("idempotency.inbox.max-payload must be between 0B and %s, but is %s"
                    .formatted(LARGEST_PAYLOAD, maxPayload));
        }
    }

    InboxRecorderFactory.Settings settings() {
        return new InboxRecorderFactory.Settings(
                this.enabled, Math.toIntExact(this.maxPayload.toBytes()), TYPE_HEADERS);
    }

    /**
     * How long messages are kept.
     *
     * @param processed how long after they were processed
     * @param failed how long after they failed last, or were forgotten on purpose, or replayed and not seen again
     */
    public record Retention(
            @DefaultValue("7d") Duration processed,
            @DefaultValue("30d") Duration failed) {

        public Retention {
            check("processed", processed);
            check("failed", failed);
        }

        private static void check(String name, Duration retention) {
            RetentionLimit.require("idempotency.inbox.retention." + name, retention);
            if (retention.compareTo(SHORTEST_RETENTION) < 0) {
                throw new IllegalArgumentException("idempotency.inbox.retention.%s must be at least %s, but is %s"
                        .formatted(name, SHORTEST_RETENTION, retention));
            }
        }
    }
}
