package dev.idempotency.autoconfigure;

import dev.idempotency.Check;
import dev.idempotency.MessageIds;
import dev.idempotency.OnConflict;
import dev.idempotency.check.CheckPolicy;
import dev.idempotency.database.RetentionLimit;
import dev.idempotency.database.SchemaMode;
import dev.idempotency.key.HeaderKeyResolver;
import dev.idempotency.key.OnMissingKey;
import java.time.Duration;
import java.time.LocalDateTime;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.scheduling.support.CronExpression;
import org.springframework.util.unit.DataSize;

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
 * @param observe statistics of the store
 * @param producer ids for messages that are sent
 * @param deadLetters how dead letters are sent back
 * @param reconciliation how topics are compared with the store
 * @param results results that are kept and given again
 * @param checks what happens to findings of the start-up checks
 * @param relaxedChecks checks whose findings are lowered by one level: what would keep the application from starting is
 *     logged as a warning, and what would be logged is left out
 * @param brokerCheckTimeout how long to wait for the broker's answers about topics, without delaying the start; zero to
 *     ask nothing
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
        @DefaultValue Observe observe,
        @DefaultValue Producer producer,
        @DefaultValue DeadLetters deadLetters,
        @DefaultValue Reconciliation reconciliation,
        @DefaultValue Results results,
        @DefaultValue("fail") CheckPolicy.Mode checks,
        @DefaultValue Set<Check> relaxedChecks,
        @DefaultValue("10s") Duration brokerCheckTimeout) {

    public IdempotencyProperties {
        RetentionLimit.require("idempotency.retention", retention);
        if (conflicts == OnConflict.DEFAULT) {
            throw new IllegalArgumentException(
                    "idempotency.conflicts must be 'warn', 'fail' or 'off': it is the default itself");
        }
        if (brokerCheckTimeout.isNegative()) {
            throw new IllegalArgumentException(
                    "idempotency.broker-check-timeout must not be negative, but is " + brokerCheckTimeout);
        }
        RetentionLimit.require("idempotency.broker-check-timeout", brokerCheckTimeout);
    }

    CheckPolicy checkPolicy() {
        return new CheckPolicy(this.checks, this.relaxedChecks);
    }

    private static void requirePositive(String name, int value) {
        if (value < 1) {
            throw new IllegalArgumentException("idempotency.%s must be at least 1, but is %d".formatted(name, value));
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
     * @param atCommit whether record listeners on PostgreSQL claim together with the commit, in one round trip, so that they
     *     may be called with a duplicate
     */
    public record Claim(
            @DefaultValue("10s") Duration timeout,
            @DefaultValue("false") boolean atCommit) {

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
     * @param mode how the tables are prepared at start-up
     * @param name schema of the tables; by default, the one that connections use
     */
    public record Schema(
            @DefaultValue("migrate") SchemaMode mode,
            @Nullable String name) {}

    /**
     * Statistics of the store.
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

    /**
     * Ids for messages that are sent.
     *
     * @param stampIds whether the application's KafkaTemplates stamp an id on records that have none
     */
    public record Producer(@DefaultValue("false") boolean stampIds) {}

    /**
     * How dead letters are sent back.
     *
     * @param maxRedrives how often a message is sent back from its dead-letter topic before it stays there
     * @param redrivesPerSecond how many dead letters are sent back per second at most
     */
    public record DeadLetters(
            @DefaultValue("3") int maxRedrives,
            @DefaultValue("100") int redrivesPerSecond) {

        public DeadLetters {
            requirePositive("dead-letters.max-redrives", maxRedrives);
            requirePositive("dead-letters.redrives-per-second", redrivesPerSecond);
        }
    }

    /**
     * How topics are compared with the store.
     *
     * @param recordsPerSecond how many records a reconciliation reads per second at most
     * @param cron when all consumers of this instance are reconciled, as in '0 0 4 * * *', or '-' for never
     */
    public record Reconciliation(
            @DefaultValue("5000") int recordsPerSecond,
            @DefaultValue("-") String cron) {

        public Reconciliation {
            requirePositive("reconciliation.records-per-second", recordsPerSecond);
            if (!cron.equals("-")
                    && (!CronExpression.isValidExpression(cron)
                            || CronExpression.parse(cron).next(LocalDateTime.now()) == null)) {
                throw new IllegalArgumentException(
                        "idempotency.reconciliation.cron must be a cron expression of six fields for a time to come, such as '0 0 4 * * *', or '-' for never, but is '%s'"
                                .formatted(cron));
            }
        }
    }

    /**
     * Results that are kept and given again.
     *
     * @param maxSize how large the text of a result may be
     * @param retention how long results are kept, at most as long as their ids, or '-' for as long as these
     */
    public record Results(
            @DefaultValue("1MB") DataSize maxSize,
            @DefaultValue("-") DurationOrNever retention) {

        private static final DataSize LARGEST = DataSize.ofMegabytes(100);

        public Results {
            if (maxSize.isNegative() || maxSize.toBytes() == 0 || maxSize.compareTo(LARGEST) > 0) {
                throw new IllegalArgumentException("idempotency.results.max-size must be between 1B and %s, but is %s"
                        .formatted(LARGEST, maxSize));
            }
            if (retention.duration() != null) {
                RetentionLimit.require("idempotency.results.retention", retention.duration());
            }
        }

        Duration longestRetention() {
            Duration set = this.retention.duration();
            return (set != null) ? set : Duration.ofSeconds(Long.MAX_VALUE);
        }
    }
}
