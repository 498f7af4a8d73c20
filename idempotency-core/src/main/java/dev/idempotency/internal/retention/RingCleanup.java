package dev.idempotency.internal.retention;

import dev.idempotency.internal.database.IdempotencyDatabase;
import dev.idempotency.internal.database.Ring;
import dev.idempotency.internal.retention.ProcessedMessageCleanup.Drain;
import dev.idempotency.internal.store.ProcessedMessagePurge;
import dev.idempotency.internal.store.ProcessedMessagePurge.Purged;
import dev.idempotency.internal.store.StoreExceptionTranslator;
import dev.idempotency.retention.CleanupTask;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.dao.DataAccessException;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.support.TransactionTemplate;

/**
 * Empties the slots of a ring whose messages have all expired. Before it is used again, expired rows are deleted from a slot
 * that could not be emptied. It comes before the tasks that ask when consumers were active.
 *
 * <p>A slot is looked at twice: first without a lock, as slots are seldom due; then under the lock that excludes all others, in
 * the transaction that empties it. No claim can come in between, and after a crash everything is as it was.
 */
public final class RingCleanup implements CleanupTask {

    private static final Logger logger = LoggerFactory.getLogger(RingCleanup.class);

    /** The maximum number of unexpired rows that are put back, such as rows of idle consumers. */
    public static final int MAX_KEPT = 5_000;

    /** A smaller slot is left alone while it has rows that must be put back. */
    private static final String LARGE = "select pg_relation_size(cast(? as regclass)) > 1048576";

    private static final Instant BEGINNING = ProcessedMessagePurge.BEGINNING;
    private static final int LOCKED_SECONDS = 1;
    private static final int ACTIVITY_SECONDS = 300;
    private static final long LONGEST_STEP = 900;

    /** None at first. Claims become visible with the commit, but have the time at which their transaction began. */
    private static final String LAST_ACTIVITY = """
            select coalesce(max(processed_at), 'epoch') - interval '5 minutes'
            from %s
            where processed_at <= current_timestamp
            """;

    /** The last message of every step of time: pauses seem up to two steps longer than they are. */
    private static final String ADD_ACTIVITY = """
            insert into %s as known (consumer_id, message_id, processed_at)
            select consumer_id, floor(extract(epoch from processed_at) / %s), max(processed_at)
            from %s
            where processed_at >= ? %s
            group by 1, 2
            order by 1, 2
            on conflict (consumer_id, message_id) do update
            set processed_at = greatest(known.processed_at, excluded.processed_at)
            """;

    private static final String COUNT =
            "select count(*) from (select 1 from %s where consumer_id = ? limit %d) as counted";

    /** Each as one value, which is put back as it was. */
    private static final String YOUNG =
            "select cast(slot as text) from %s as slot where %s = ? and processed_at >= ? limit %d";

    private static final String PUT_BACK = "insert into %1$s select (cast(? as %1$s)).*";

    private static final String DELETE = """
            with deleted as (
                delete from %1$s
                where consumer_id = ? and message_id = any (array(
                    select message_id
                    from %1$s
                    where consumer_id = ? and message_id > ? and processed_at < ?
                    order by message_id
                    limit ?
                    for update skip locked))
                returning message_id)
            select count(*), max(message_id) from deleted
            """;

    private final IdempotencyDatabase database;
    private final Supplier<Map<String, Duration>> retentions;
    private final @Nullable Duration orphansAfter;
    private final Ring ring;
    private final ProcessedMessagePurge activity;
    private final TransactionTemplate transaction;
    private final JdbcTemplate jdbc;

    /** {@code orphansAfter} is {@code null} if consumers of other applications are never touched. */
    public RingCleanup(
            IdempotencyDatabase database, Supplier<Map<String, Duration>> retentions, @Nullable Duration orphansAfter) {
        this.database = database;
        this.retentions = retentions;
        this.orphansAfter = orphansAfter;
        this.ring = new Ring(database);
        this.activity = ProcessedMessagePurge.ofOwnActivity(database, database.activityTable());
        this.transaction = database.newTransaction();
        this.jdbc = database.jdbc(LOCKED_SECONDS);
    }

    @Override
    public String name() {
        return "ring";
    }

    /** Rows that go with their slot are not counted. */
    @Override
    public List<Backlog> backlogs() {
        noteActivity();
        List<Backlog> backlogs = new ArrayList<>();
        List<Integer> due = dueSlots();
        for (int slot : due) {
            backlogs.add(limit -> {
                empty(slot, this::cutoff);
                return 0;
            });
        }
        String next = this.database.slotTable(due.get(2));
        for (String consumer : this.transaction.execute(status -> this.database.consumersIn(next, this.jdbc))) {
            backlogs.add(new Drain<>("", (after, limit) -> delete(next, consumer, after, limit)));
        }
        backlogs.addAll(new ProcessedMessageCleanup("", this.activity, this.retentions, null).backlogs());
        return backlogs;
    }

    /** Notes when consumers were active since the last time. What is overlooked has rows kept for longer. */
    public void noteActivity() {
        JdbcTemplate template = this.database.jdbc(ACTIVITY_SECONDS);
        String activities = this.database.activityTable();
        // At most the shortest retention: no pause that is longer than one can be overlooked.
        long step = this.retentions.get().values().stream()
                .mapToLong(retention -> Math.max(1, retention.toSeconds()))
                .reduce(LONGEST_STEP, Math::min);
        this.transaction.executeWithoutResult(status -> {
            template.execute("lock table %s in share row exclusive mode".formatted(activities));
            OffsetDateTime since = template.queryForObject(LAST_ACTIVITY.formatted(activities), OffsetDateTime.class);
            String alone = this.database.processedTableAlone();
            for (String consumer : this.database.consumersIn(alone, template)) {
                template.update(
                        ADD_ACTIVITY.formatted(activities, step, alone, "and consumer_id = ?"), since, consumer);
            }
            for (int slot = 0; slot < Ring.SLOTS; slot++) {
                template.update(ADD_ACTIVITY.formatted(activities, step, this.database.slotTable(slot), ""), since);
            }
        });
    }

    /** The slots that are neither current nor within the retention, which is half of the ring; the next to be used is last. */
    public List<Integer> dueSlots() {
        OffsetDateTime now = this.database.inTransaction(
                template -> template.queryForObject("select current_timestamp", OffsetDateTime.class));
        int current = this.ring.slotAt(now.toInstant().toEpochMilli());
        return Stream.of(3, 2, 1).map(ahead -> (current + ahead) % Ring.SLOTS).toList();
    }

    /** Returns the time before which messages of a consumer have expired, by the activity that was noted. */
    public Instant cutoff(String consumer) {
        Duration retention = this.retentions.get().get(consumer);
        if (retention != null) {
            return this.activity.expiredBefore(consumer, retention, BEGINNING);
        }
        return (this.orphansAfter != null)
                ? this.activity.abandonedBefore(consumer, this.orphansAfter, BEGINNING)
                : BEGINNING;
    }

    /**
     * Empties a slot if next to nothing in it is younger than the cutoff of its consumer; puts the rest back.
     *
     * @param cutoffs see {@link #cutoff}
     * @return whether it did; if not, it may be tried again at any time
     */
    public boolean empty(int slot, Function<String, Instant> cutoffs) {
        String table = this.database.slotTable(slot);
        // Asked for before the slot is locked, except of a consumer that appears in between.
        Map<String, Instant> known = new HashMap<>();
        Function<String, Instant> once = consumer -> known.computeIfAbsent(consumer, cutoffs);
        try {
            return this.transaction.execute(status -> findKept(table, once)) != null
                    && this.transaction.execute(status -> emptyLocked(table, once));
        } catch (DataAccessException ex) {
            SQLException cause = StoreExceptionTranslator.innermost(ex);
            if (cause == null || !this.database.dialect().isTimeout(cause)) {
                throw ex;
            }
            logger.debug("{} is in use; it is emptied later", table, ex);
            return false;
        }
    }

    private boolean emptyLocked(String table, Function<String, Instant> cutoffs) {
        this.jdbc.execute("set local lock_timeout = '300ms'");
        this.jdbc.execute("lock table only %s in access exclusive mode".formatted(table));
        List<Object[]> kept = findKept(table, cutoffs);
        if (kept == null) {
            return false;
        }
        this.jdbc.execute("truncate only " + table);
        this.jdbc.batchUpdate(PUT_BACK.formatted(table), kept);
        logger.info("Emptied {}; {} rows were kept", table, kept.size());
        return true;
    }

    /** Returns the rows to be put back, or {@code null} if the slot may not be emptied now. */
    private @Nullable List<Object[]> findKept(String table, Function<String, Instant> cutoffs) {
        // By the index on the time, which tells at once if all of a slot is older, whatever the statistics say.
        this.jdbc.execute("set local enable_seqscan = off");
        List<Object[]> kept = new ArrayList<>();
        boolean expired = false;
        for (String consumer : this.database.consumersIn(table, this.jdbc)) {
            int rows = this.jdbc.queryForObject(COUNT.formatted(table, MAX_KEPT + 1), Integer.class, consumer);
            // By the primary key if they are few, and otherwise by the time.
            String key = (rows <= MAX_KEPT) ? "consumer_id" : "consumer_id || ''";
            List<Object[]> young = this.jdbc.query(
                    YOUNG.formatted(table, key, MAX_KEPT + 1),
                    (row, number) -> new Object[] {row.getString(1)},
                    consumer,
                    cutoffs.apply(consumer).atOffset(ZoneOffset.UTC));
            expired |= rows > young.size();
            kept.addAll(young);
            if (kept.size() > MAX_KEPT) {
                return null;
            }
        }
        boolean due = expired && (kept.isEmpty() || this.jdbc.queryForObject(LARGE, Boolean.class, table));
        return due ? kept : null;
    }

    /** Deletes expired messages of a consumer from a slot that cannot be emptied, in the order of their ids. */
    private Purged<String> delete(String table, String consumer, String after, int limit) {
        Instant cutoff = cutoff(consumer);
        if (cutoff.equals(BEGINNING)) {
            return new Purged<>(0, after);
        }
        JdbcTemplate template = this.database.jdbc(ProcessedMessagePurge.TIMEOUT_SECONDS);
        return this.transaction.execute(status -> template.queryForObject(
                DELETE.formatted(table),
                (row, number) -> new Purged<>(row.getInt(1), Objects.requireNonNullElse(row.getString(2), after)),
                consumer,
                consumer,
                after,
                cutoff.atOffset(ZoneOffset.UTC),
                limit));
    }
}
