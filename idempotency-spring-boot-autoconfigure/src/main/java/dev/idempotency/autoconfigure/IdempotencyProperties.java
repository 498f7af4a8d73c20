package dev.idempotency.autoconfigure;

import dev.idempotency.OnConflict;
import dev.idempotency.OnMissingKey;
import dev.idempotency.StartupCheck;
import dev.idempotency.internal.database.RetentionLimit;
import dev.idempotency.internal.database.RetentionMode;
import dev.idempotency.internal.database.SchemaMode;
import dev.idempotency.internal.key.HeaderKeyResolver;
import dev.idempotency.key.MessageIdHeader;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.format.annotation.DurationFormat;
import org.springframework.format.datetime.standard.DurationFormatterUtils;
import org.springframework.util.unit.DataSize;

/**
 * Settings under {@code idempotency}; each group of them is described by its type.
 *
 * @param enabled whether listeners are protected
 * @param retention how long processed messages are remembered, unless a listener says otherwise
 * @param retentionMode whether expired messages are deleted, or forgotten slot by slot of a ring of tables
 * @param transactionPerPoll whether record listeners that can have it share one transaction among the records of a poll
 * @param onConflict what happens to a message that has the id of another one but another payload, unless a listener says
 *     otherwise
 */
@ConfigurationProperties("idempotency")
public record IdempotencyProperties(
        @DefaultValue("true") boolean enabled,
        @DefaultValue("7d") Duration retention,
        @DefaultValue("delete") RetentionMode retentionMode,
        @DefaultValue Ring ring,
        @DefaultValue("false") boolean transactionPerPoll,
        @DefaultValue("warn") OnConflict onConflict,
        @DefaultValue Key key,
        @DefaultValue Claim claim,
        @DefaultValue Lock lock,
        @DefaultValue Schema schema,
        @DefaultValue Metrics metrics,
        @DefaultValue Producer producer,
        @DefaultValue DeadLetters deadLetters,
        @DefaultValue Reconciliation reconciliation,
        @DefaultValue Results results,
        @DefaultValue Cleanup cleanup,
        @DefaultValue Inbox inbox,
        @DefaultValue Checks checks) {

    private static final Duration LONGEST = Duration.ofDays(36_500);

    public IdempotencyProperties {
        RetentionLimit.require("idempotency.retention", retention);
    }

    /** A quarter of the retention, unless it is set. */
    Duration ringWidth() {
        return (this.ring.width() != null) ? this.ring.width() : this.retention.dividedBy(4);
    }

    private static <T extends Comparable<T>> void requireBetween(String name, @Nullable T value, T least, T most) {
        if (value != null && (value.compareTo(least) < 0 || value.compareTo(most) > 0)) {
            throw new IllegalArgumentException("idempotency.%s must be between %s and %s, but is %s"
                    .formatted(name, readable(least), readable(most), readable(value)));
        }
    }

    /** Durations as one writes them: {@code 1d}, not {@code PT24H}. */
    private static Object readable(Object value) {
        return (value instanceof Duration duration)
                ? DurationFormatterUtils.print(duration, DurationFormat.Style.COMPOSITE)
                : value;
    }

    /**
     * Slots of the ring of tables.
     *
     * @param width how far the times of a slot's ids are apart at most; set when the ring is made, by default to a quarter
     *     of the retention
     */
    public record Ring(@Nullable Duration width) {

        public Ring {
            requireBetween("ring.width", width, Duration.ofSeconds(1), LONGEST);
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
                MessageIdHeader.HEADER,
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

        public Claim {
            // Beyond a day a claim holds a connection for nothing, and beyond some weeks drivers cannot count.
            requireBetween("claim.timeout", timeout, Duration.ofMillis(1), Duration.ofDays(1));
        }
    }

    /**
     * How business keys are locked.
     *
     * @param timeout how long a listener, or code, waits for another transaction that holds the same lock
     */
    public record Lock(@DefaultValue("10s") Duration timeout) {

        public Lock {
            requireBetween("lock.timeout", timeout, Duration.ofMillis(1), Duration.ofDays(1));
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
     * @param storeRefreshInterval minimum time between two queries for the table's size and oldest messages
     */
    public record Metrics(@DefaultValue("1m") Duration storeRefreshInterval) {

        public Metrics {
            requireBetween("metrics.store-refresh-interval", storeRefreshInterval, Duration.ofMillis(1), LONGEST);
        }
    }

    /**
     * Ids for messages that are sent.
     *
     * @param stampIds whether the application's KafkaTemplates stamp an id on records that have none
     */
    public record Producer(@DefaultValue("false") boolean stampIds) {}

    /**
     * Where dead letters go, and how they are sent back.
     *
     * @param enabled whether they are published to a dead-letter topic; if not, they are retried until they succeed
     * @param suffix appended to a topic's name for the name of its dead-letter topic
     * @param maxRedrives how often a message is sent back from its dead-letter topic before it stays there
     * @param redrivesPerSecond how many dead letters are sent back per second at most
     */
    public record DeadLetters(
            @DefaultValue("true") boolean enabled,
            @DefaultValue("-dlt") String suffix,
            @DefaultValue("3") int maxRedrives,
            @DefaultValue("100") int redrivesPerSecond) {

        public DeadLetters {
            if (!suffix.matches("[a-zA-Z0-9._-]+")) {
                throw new IllegalArgumentException(
                        "idempotency.dead-letters.suffix must be one or more letters, digits, '.', '_' or '-', but is '%s'"
                                .formatted(suffix));
            }
            requireBetween("dead-letters.max-redrives", maxRedrives, 1, Integer.MAX_VALUE);
            requireBetween("dead-letters.redrives-per-second", redrivesPerSecond, 1, Integer.MAX_VALUE);
        }

        /** Returns the suffix, or {@code null} if dead letters are off. */
        @Nullable
        String suffixIfEnabled() {
            return this.enabled ? this.suffix : null;
        }
    }

    /**
     * How topics are compared with the store.
     *
     * @param recordsPerSecond how many records a reconciliation reads per second at most
     */
    public record Reconciliation(@DefaultValue("5000") int recordsPerSecond) {

        public Reconciliation {
            requireBetween("reconciliation.records-per-second", recordsPerSecond, 1, Integer.MAX_VALUE);
        }
    }

    /**
     * Results that are kept and given again.
     *
     * @param maxSize how large the text of a result may be
     * @param retention how long results are kept, at most as long as their ids; by default as long as these
     */
    public record Results(
            @DefaultValue("1MB") DataSize maxSize, @Nullable Duration retention) {

        public Results {
            requireBetween("results.max-size", maxSize, DataSize.ofBytes(1), DataSize.ofMegabytes(100));
            requireBetween("results.retention", retention, Duration.ofMillis(1), LONGEST);
        }

        Duration longestRetention() {
            return (this.retention != null) ? this.retention : Duration.ofSeconds(Long.MAX_VALUE);
        }
    }

    /**
     * How rows are removed that are no longer needed.
     *
     * @param enabled whether runs are scheduled
     * @param interval time between two runs
     */
    public record Cleanup(
            @DefaultValue("true") boolean enabled,
            @DefaultValue("1m") Duration interval,
            @DefaultValue Orphans orphans) {

        public Cleanup {
            requireBetween("cleanup.interval", interval, Duration.ofMillis(1), LONGEST);
        }

        /**
         * Rows of consumers that are not in this application.
         *
         * @param enabled whether they are removed
         * @param after how long such a consumer must have been idle
         */
        public record Orphans(
                @DefaultValue("true") boolean enabled,
                @DefaultValue("30d") Duration after) {

            public Orphans {
                // The consumer may be in an application that shares this database and is down for a while.
                requireBetween("cleanup.orphans.after", after, Duration.ofDays(1), LONGEST);
            }

            /** Returns the idle time, or {@code null} if they are kept. */
            @Nullable
            Duration afterIfEnabled() {
                return this.enabled ? this.after : null;
            }
        }
    }

    /**
     * Which messages are kept in the inbox, and for how long.
     *
     * @param enabled whether the messages of all listeners are kept, not only of those with inbox = "true"
     * @param maxPayload size of a record's value beyond which it is left out
     */
    public record Inbox(
            @DefaultValue("false") boolean enabled,
            @DefaultValue("1MB") DataSize maxPayload,
            @DefaultValue Retention retention) {

        public Inbox {
            requireBetween("inbox.max-payload", maxPayload, DataSize.ofBytes(0), DataSize.ofGigabytes(1));
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
                requireBetween("inbox.retention.processed", processed, Duration.ofMinutes(1), LONGEST);
                requireBetween("inbox.retention.failed", failed, Duration.ofMinutes(1), LONGEST);
            }
        }
    }

    /**
     * Start-up checks.
     *
     * @param mode what happens to findings
     * @param relaxed checks whose findings are lowered by one level: what would keep the application from starting is logged
     *     as a warning, and what would be logged is left out
     * @param brokerTimeout how long to wait for the broker's answers about topics, without delaying the start; zero to ask
     *     nothing
     */
    public record Checks(
            @DefaultValue("fail") StartupCheck.Mode mode,
            @DefaultValue Set<StartupCheck> relaxed,
            @DefaultValue("10s") Duration brokerTimeout) {

        public Checks {
            requireBetween("checks.broker-timeout", brokerTimeout, Duration.ZERO, LONGEST);
        }
    }
}
