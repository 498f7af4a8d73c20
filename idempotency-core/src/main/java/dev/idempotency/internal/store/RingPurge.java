package dev.idempotency.internal.store;

import dev.idempotency.internal.database.Dialect;
import dev.idempotency.internal.database.EpochSeconds;
import dev.idempotency.internal.database.IdempotencyDatabase;
import dev.idempotency.internal.database.Ring;
import java.math.BigDecimal;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.dao.DataAccessException;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.support.TransactionTemplate;

/**
 * Empties the slots of a ring whose messages have all expired.
 *
 * <p>Whether a slot may be emptied is looked at twice: first without a lock, as slots are seldom due; then under the lock
 * that keeps everybody else out, in the transaction that empties it. Nobody can claim in between, and after a crash
 * everything is as it was. Times decide how cheaply a slot is emptied, never in which table an id is.
 */
public final class RingPurge {

    private static final Logger logger = LoggerFactory.getLogger(RingPurge.class);

    /** How many rows that have not expired are put back at most, such as those of idle consumers. */
    static final int MAX_KEPT = 5_000;

    /** A smaller slot is left alone while it has rows that must be put back. */
    private static final long SMALL = 1 << 20;

    /** How many slots before the current one are due: half of the ring is one retention, and one more slot fills up. */
    private static final int DUE_SLOTS = 3;

    private static final int LOCKED_SECONDS = 1;
    private static final int ACTIVITY_SECONDS = 300;

    /** Less than the shortest retention, so that no pause is overlooked. */
    private static final int STEP_SECONDS = 900;

    /** Claims become visible with the commit, but have the time at which their transaction began. */
    private static final Duration LONGEST_TRANSACTION = Duration.ofMinutes(5);

    /** None at first: then all rows are looked at once. */
    private static final String LAST_ACTIVITY = "select %s from %s where processed_at <= %s";

    /** The first and the last message of every step, in an order that is the same for everyone. */
    private static final String ADD_ACTIVITY = """
            insert into %1$s as known (consumer_id, message_id, processed_at)
            select seen.consumer_id, seen.step || edge.sign, case edge.sign when '-' then seen.first else seen.last end
            from (
                    select consumer_id, cast(floor(extract(epoch from processed_at) / %4$d) as bigint) as step,
                        min(processed_at) as first, max(processed_at) as last
                    from %2$s
                    where processed_at >= %3$s %5$s
                    group by 1, 2
                ) as seen,
                (values ('-'), ('+')) as edge (sign)
            order by 1, 2
            on conflict (consumer_id, message_id) do update
            set processed_at = excluded.processed_at
            where case right(excluded.message_id, 1)
                when '-' then excluded.processed_at < known.processed_at
                else excluded.processed_at > known.processed_at
            end
            """;

    private static final String COUNT =
            "select count(*) from (select 1 from %s where consumer_id = ? limit %d) as counted";

    /** As one value, which is put back as it was. */
    private static final String YOUNG = """
            select count(*), cast(array_agg(young) as text)
            from (select slot as young from %s as slot where %s = ? and processed_at >= %s limit %d) as kept
            """;

    private static final String PUT_BACK = "insert into %1$s select * from unnest(cast(? as %1$s[]))";

    private static final String DELETE = """
            with expired as (
                select message_id
                from %1$s
                where consumer_id = ? and message_id > ? and processed_at < %2$s
                order by message_id
                limit ?
                for update skip locked
            )
            delete from %1$s as slot
            using expired
            where slot.consumer_id = ? and slot.message_id = expired.message_id
            returning slot.message_id
            """;

    private final IdempotencyDatabase database;
    private final Dialect dialect;
    private final Ring ring;
    private final ProcessedMessagePurge activity;
    private final TransactionTemplate transaction;
    private final JdbcTemplate jdbc;

    public RingPurge(IdempotencyDatabase database) {
        this.database = database;
        this.dialect = database.dialect();
        this.ring = Objects.requireNonNull(Ring.of(database), "No ring");
        this.activity = ProcessedMessagePurge.ofActivity(database);
        this.transaction = database.newTransaction();
        this.jdbc = database.jdbc(LOCKED_SECONDS);
    }

    /** The retentions of this application's consumers, and when all others count as abandoned, if they ever do. */
    public record Limits(
            Map<String, Duration> retentions, @Nullable Duration orphansAfter) {}

    /** Notes when consumers were active since the last time. What is overlooked has rows kept for longer. */
    public void noteActivity() {
        JdbcTemplate template = this.database.jdbc(ACTIVITY_SECONDS);
        String table = this.database.activityTable();
        this.transaction.executeWithoutResult(status -> {
            template.execute("lock table %s in share row exclusive mode".formatted(table));
            BigDecimal last = template.queryForObject(
                    LAST_ACTIVITY.formatted(this.dialect.secondsOf("max(processed_at)"), table, this.dialect.now()),
                    BigDecimal.class);
            BigDecimal from = (last != null)
                    ? last.subtract(BigDecimal.valueOf(LONGEST_TRANSACTION.toSeconds()))
                    : BigDecimal.ZERO;
            String alone = this.database.processedTableAlone();
            for (String consumer : this.database.consumersIn(alone, template)) {
                template.update(addActivity(alone, "and consumer_id = ?"), from, consumer);
            }
            for (int slot = 0; slot < Ring.SLOTS; slot++) {
                template.update(addActivity(this.database.slotTable(slot), ""), from);
            }
        });
    }

    private String addActivity(String table, String condition) {
        return ADD_ACTIVITY.formatted(
                this.database.activityTable(), table, this.dialect.timeOfSeconds(), STEP_SECONDS, condition);
    }

    /** Forgets when a consumer was active, as far as that no longer matters. */
    public ProcessedMessagePurge activity() {
        return this.activity;
    }

    /** The slots whose messages should have expired, the next one to be used last. */
    public List<Integer> dueSlots() {
        BigDecimal now = Objects.requireNonNull(this.database.inTransaction(template ->
                template.queryForObject("select " + this.dialect.secondsOf(this.dialect.now()), BigDecimal.class)));
        int current = this.ring.slotAt(EpochSeconds.toInstant(now).toEpochMilli());
        List<Integer> due = new ArrayList<>();
        for (int ahead = DUE_SLOTS; ahead > 0; ahead--) {
            due.add((current + ahead) % Ring.SLOTS);
        }
        return due;
    }

    /** Returns the times before which messages of the consumers in a slot have expired. */
    public Map<String, Instant> cutoffs(int slot, Limits limits) {
        return this.transaction.execute(status -> {
            Map<String, Instant> cutoffs = new TreeMap<>();
            for (String consumer : this.database.consumersIn(this.database.slotTable(slot), this.jdbc)) {
                cutoffs.put(consumer, cutoff(consumer, limits));
            }
            return cutoffs;
        });
    }

    private Instant cutoff(String consumer, Limits limits) {
        Instant never = ProcessedMessagePurge.BEGINNING;
        Duration retention = limits.retentions().get(consumer);
        if (retention != null) {
            return this.activity.expiredBefore(consumer, retention, never);
        }
        return (limits.orphansAfter() != null)
                ? this.activity.abandonedBefore(consumer, limits.orphansAfter(), never)
                : never;
    }

    /**
     * Empties a slot if next to nothing in it is younger than the cutoff of its consumer; puts the rest back.
     *
     * @param cutoffs from {@link #cutoffs}; those of a consumer only move forward
     * @return whether it did; if not, it may be tried again at any time
     */
    public boolean empty(int slot, Map<String, Instant> cutoffs) {
        String table = this.database.slotTable(slot);
        long start = System.nanoTime();
        try {
            if (cutoffs.isEmpty() || this.transaction.execute(status -> look(slot, cutoffs)) == null) {
                return false;
            }
            List<String> kept = this.transaction.execute(status -> {
                this.jdbc.execute("set local lock_timeout = '300ms'");
                this.jdbc.execute("lock table only %s in access exclusive mode".formatted(table));
                List<String> young = look(slot, cutoffs);
                if (young != null) {
                    this.jdbc.execute("truncate only " + table);
                    young.forEach(rows -> this.jdbc.update(PUT_BACK.formatted(table), rows));
                }
                return young;
            });
            if (kept != null) {
                logger.info(
                        "Emptied {} in {} ms; rows of {} consumers were kept",
                        table,
                        Duration.ofNanos(System.nanoTime() - start).toMillis(),
                        kept.size());
            }
            return kept != null;
        } catch (DataAccessException ex) {
            SQLException cause = StoreExceptionTranslator.innermost(ex);
            if (cause == null || !this.dialect.isTimeout(cause)) {
                throw ex;
            }
            logger.debug("{} is in use; it is emptied later", table, ex);
            return false;
        }
    }

    /** Returns the rows to be put back, by consumer, or {@code null} if the slot may not be emptied now. */
    private @Nullable List<String> look(int slot, Map<String, Instant> cutoffs) {
        String table = this.database.slotTable(slot);
        // By the index on the time, which tells at once if all of a slot is older, whatever the statistics say.
        this.jdbc.execute("set local enable_seqscan = off");
        List<String> young = new ArrayList<>();
        int[] count = new int[1];
        for (String consumer : this.database.consumersIn(table, this.jdbc)) {
            Instant cutoff = cutoffs.getOrDefault(consumer, ProcessedMessagePurge.BEGINNING);
            Integer rows = this.jdbc.queryForObject(COUNT.formatted(table, MAX_KEPT + 1), Integer.class, consumer);
            // By the primary key if they are few, and otherwise by the time.
            String key = (rows != null && rows <= MAX_KEPT) ? "consumer_id" : "consumer_id || ''";
            this.jdbc.query(
                    YOUNG.formatted(table, key, this.dialect.timeOfSeconds(), MAX_KEPT + 1),
                    row -> {
                        if (row.getInt(1) > 0) {
                            count[0] += row.getInt(1);
                            young.add(row.getString(2));
                        }
                    },
                    consumer,
                    EpochSeconds.toDecimal(cutoff));
            if (count[0] > MAX_KEPT) {
                return null;
            }
        }
        return (young.isEmpty() || isLarge(table)) ? young : null;
    }

    private boolean isLarge(String table) {
        Long size = this.jdbc.queryForObject("select pg_relation_size(cast(? as regclass))", Long.class, table);
        return size != null && size > SMALL;
    }

    /** What was deleted of a slot: how many rows, and up to which id. */
    public record Deleted(int rows, String upTo) {}

    /** Deletes expired messages of a consumer from a slot that cannot be emptied, in the order of their ids. */
    public Deleted delete(int slot, String consumer, Instant cutoff, String after, int limit) {
        JdbcTemplate template = this.database.jdbc(ProcessedMessagePurge.TIMEOUT_SECONDS);
        List<String> ids = this.transaction.execute(status -> template.queryForList(
                DELETE.formatted(this.database.slotTable(slot), this.dialect.timeOfSeconds()),
                String.class,
                consumer,
                after,
                EpochSeconds.toDecimal(cutoff),
                limit,
                consumer));
        return new Deleted(
                ids.size(), ids.stream().reduce(after, (one, other) -> one.compareTo(other) > 0 ? one : other));
    }
}
