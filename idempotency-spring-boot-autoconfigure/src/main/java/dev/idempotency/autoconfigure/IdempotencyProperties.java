package dev.idempotency.autoconfigure;

import dev.idempotency.MessageIds;
import dev.idempotency.OnConflict;
import dev.idempotency.database.RetentionLimit;
import dev.idempotency.database.SchemaMode;
import dev.idempotency.key.HeaderKeyResolver;
import dev.idempotency.key.OnMissingKey;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * Settings under {@code idempotency}.
 *
 * @param enabled whether listeners are protected
 * @param retention how long processed messages are remembered, unless a listener says otherwise
 * @param transactionPerPoll whether record listeners that can have it share one transaction among the records of a poll
 * @param conflicts what happens to a message that has the id of another one but another payload, unless a listener says
 *     otherwise
 * @param key how messages are identified
 * @param claim how messages are claimed
 * @param schema where the tables are and who makes them
 * @param observe what is watched
 */
@ConfigurationProperties("idempotency")
public record IdempotencyProperties(
        @DefaultValue("true") boolean enabled,
        @DefaultValue("7d") Duration retention,
        @DefaultValue("false") boolean transactionPerPoll,
        @DefaultValue("warn") OnConflict conflicts,
        @DefaultValue Key key,
        @DefaultValue Claim claim,
        @DefaultValue Schema schema,
        @DefaultValue Observe observe) {

    public IdempotencyProperties {
        RetentionLimit.require("idempotency.retention", retention);
        if (conflicts == OnConflict.DEFAULT) {
            throw new IllegalArgumentException(
                    "idempotency.conflicts must be 'warn', 'fail' or 'off': it is the default itself");
        }
    }

    /**
     * How messages are identified.
     *
     * @param headers headers of the Kafka record that may carry a message's id; the first one present counts
     * @param onMissing what happens to a message without a key
     */
    public record Key(
            @DefaultValue({
                HeaderKeyResolver.IDEMPOTENCY_KEY,
                MessageIds.HEADER,
                HeaderKeyResolver.CLOUD_EVENT_ID,
                HeaderKeyResolver.ID
            })
            List<String> headers,

            @DefaultValue("fail") OnMissingKey onMissing) {

        public Key {
            if (headers.isEmpty() || headers.stream().anyMatch(String::isBlank)) {
                throw new IllegalArgumentException(
                        "idempotency.key.headers must name one header or more, but is '%s': no message would have a key"
                                .formatted(String.join(",", headers)));
            }
        }
    }

    /**
     * How messages are claimed.
     *
     * @param timeout how long a claim waits for another transaction that holds the same message
     */
    public record Claim(@DefaultValue("10s") Duration timeout) {

        // Beyond it a claim holds a connection for nothing, and beyond some weeks drivers cannot count.
        private static final Duration LONGEST = Duration.ofDays(1);

        public Claim {
            if (timeout.isNegative() || timeout.isZero() || timeout.compareTo(LONGEST) > 0) {
                throw new IllegalArgumentException(
                        "idempotency.claim.timeout must be positive and at most %d hours, but is %s"
                                .formatted(LONGEST.toHours(), timeout));
            }
        }
    }

    /**
     * Where the tables are and who makes them.
     *
     * @param mode what is done about the tables at start-up
     * @param name schema of the tables; by default, the one that connections use
     */
    public record Schema(
            @DefaultValue("migrate") SchemaMode mode,
            @Nullable String name) {}

    /**
     * What is watched.
     *
     * @param storeInterval minimum time between two queries for the table's size and oldest messages
     */
    public record Observe(@DefaultValue("1m") Duration storeInterval) {

        public Observe {
            if (storeInterval.isNegative() || storeInterval.isZero()) {
                throw new IllegalArgumentException(
                        "idempotency.observe.store-interval must be positive, but is " + storeInterval);
            }
            RetentionLimit.require("idempotency.observe.store-interval", storeInterval);
        }
    }
}
