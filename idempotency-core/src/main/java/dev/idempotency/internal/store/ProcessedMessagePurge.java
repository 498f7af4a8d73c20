package dev.idempotency.internal.store;

import dev.idempotency.internal.database.Dialect;
import dev.idempotency.internal.database.EpochSeconds;
import dev.idempotency.internal.database.IdempotencyDatabase;
import java.math.BigDecimal;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.support.TransactionTemplate;

/**
 * Deletes old rows of one table. Each call is a small transaction on its own connection, and skips rows that are locked.
 *
 * <p>A few look-ups in the index find the time before which rows may be deleted. It stays valid while others work: activity
 * moves it forward, never back.
 */
public final class ProcessedMessagePurge {

    /** Where a drain begins: there is no older row. */
    public static final Instant BEGINNING = Instant.EPOCH;

    /** How many pauses in a row, each longer than the retention, a consumer may make and keep what came before. */
    private static final int PAUSES = 3;

    public static final int TIMEOUT_SECONDS = 30;

    private static final int IDS_PER_DELETE = 500;

    private static final String LAST = """
            select coalesce(%1$s, (select %1$s from %2$s where consumer_id = ?)), %3$s
            from %4$s
            where consumer_id = ?
            """;

    private static final String LAST_BEFORE =
            "select %s from %s where consumer_id = ? and processed_at >= %3$s and processed_at < %3$s";

    private static final String FIRST_SINCE = "select %s from %s where consumer_id = ? and processed_at >= %s";

    private static final String LOCK = """
            select message_id, %s
            from %s
            where consumer_id = ? and processed_at >= %3$s and processed_at < %3$s
            """;

    private static final String OLDEST_FIRST = "order by consumer_id, processed_at ";

    private static final String DELETE =
            "delete from %s where consumer_id = ? and message_id in (%s) and processed_at < %s ";

    private final IdempotencyDatabase database;
    private final String table;
    private final JdbcTemplate jdbc;
    private final TransactionTemplate transaction;
    private final String last;
    private final String lastBefore;
    private final String firstSince;
    private final String lock;
    private final String time;
    private final String expired;

    public ProcessedMessagePurge(IdempotencyDatabase database) {
        this(database, database.processedTableAlone(), database.activityTable(), "");
    }

    /** Rows of {@code activity} tell when a consumer was active; {@code expired} is a further condition for rows that expire. */
    private ProcessedMessagePurge(IdempotencyDatabase database, String table, String activity, String expired) {
        Dialect dialect = database.dialect();
        String max = dialect.secondsOf("max(processed_at)");
        this.time = dialect.timeOfSeconds();
        this.database = database;
        this.table = table;
        this.jdbc = database.jdbc(TIMEOUT_SECONDS);
        this.transaction = database.newTransaction();
        this.last = LAST.formatted(max, table, dialect.secondsOf(dialect.now()), activity);
        this.lastBefore = LAST_BEFORE.formatted(max, activity, this.time);
        this.firstSince = FIRST_SINCE.formatted(dialect.secondsOf("min(processed_at)"), activity, this.time);
        this.lock = LOCK.formatted(dialect.secondsOf("processed_at"), table, this.time);
        this.expired = expired;
    }

    /** For the table of results: when their consumer was active is read from the table of processed messages. */
    public static ProcessedMessagePurge ofResults(IdempotencyDatabase database) {
        return new ProcessedMessagePurge(database, database.resultTable(), database.activityTable(), "");
    }

    /** Same for the table of steps. A step of unknown outcome is kept until it is settled. */
    public static ProcessedMessagePurge ofSteps(IdempotencyDatabase database) {
        return new ProcessedMessagePurge(
                database, database.stepTable(), database.activityTable(), "and status = 'done' ");
    }

    /**
     * For a table whose rows alone tell when a consumer was active, such as the one of versions, counted from an entity's last
     * change: in the table of processed messages it has none, or rows of a strategy that it had before.
     */
    public static ProcessedMessagePurge ofOwnActivity(IdempotencyDatabase database, String table) {
        return new ProcessedMessagePurge(database, table, table, "");
    }

    /** How many rows were deleted, and where the next purge begins. */
    public record Purged<P>(int rows, P upTo) {}

    /** Returns the consumers that have rows in the table, whether or not they are in this application. */
    public List<String> consumers() {
        return this.transaction.execute(status -> this.database.consumersIn(this.table, this.jdbc));
    }

    /**
     * Deletes rows, oldest first, that were processed more than {@code retention} before the consumer's last message. A last
     * message in the future, by a clock that was wrong once, counts as one of now.
     *
     * <p>A consumer that comes back after a pause longer than the retention, during which it may have been down, has
     * forgotten nothing: while the retention reaches into the pause, it is counted from the last message before the pause.
     * After {@value #PAUSES} pauses in a row it is not, so that a consumer whose messages are always that far apart does not
     * never remove them.
     *
     * @param from where to begin: {@link #BEGINNING}, or up to where the drain has come
     */
    public Purged<Instant> purgeExpired(String consumer, Duration retention, Instant from, int limit) {
        return this.transaction.execute(
                status -> purgeBefore(expiredBefore(consumer, retention, from), this.expired, consumer, from, limit));
    }

    /** Returns the time before which rows of a consumer may be deleted, in the current transaction. */
    public Instant expiredBefore(String consumer, Duration retention, Instant from) {
        Activity activity = activityOf(consumer);
        return (activity != null)
                ? heldBeforePauses(activity.lastUntilNow().minus(retention), consumer, retention, from)
                : from;
    }

    /** Deletes all rows of a consumer that has processed no message for {@code idle}, or none if it has. */
    public Purged<Instant> purgeAbandoned(String consumer, Duration idle, Instant from, int limit) {
        return this.transaction.execute(
                status -> purgeBefore(abandonedBefore(consumer, idle, from), "", consumer, from, limit));
    }

    /** The same for a consumer whose rows are all deleted when it has been idle for so long. */
    public Instant abandonedBefore(String consumer, Duration idle, Instant from) {
        Activity activity = activityOf(consumer);
        boolean abandoned =
                activity != null && activity.last().isBefore(activity.now().minus(idle));
        return abandoned ? activity.last().plusNanos(1_000) : from;
    }

    /** A consumer's last message, and the present, by the database's clock. */
    private record Activity(Instant last, Instant now) {

        Instant lastUntilNow() {
            return this.last.isBefore(this.now) ? this.last : this.now;
        }
    }

    private @Nullable Activity activityOf(String consumer) {
        return this.jdbc.query(
                this.last,
                row -> (row.next() && row.getBigDecimal(1) != null)
                        ? new Activity(
                                EpochSeconds.toInstant(row.getBigDecimal(1)),
                                EpochSeconds.toInstant(row.getBigDecimal(2)))
                        : null,
                consumer,
                consumer);
    }

    /** Does not look before {@code from}: a drain would walk over what it has just deleted. */
    private Instant heldBeforePauses(Instant cutoff, String consumer, Duration retention, Instant from) {
        Instant held = cutoff;
        for (int pauses = 0; pauses < PAUSES && held.isAfter(from); pauses++) {
            Instant before =
                    look(this.lastBefore, consumer, EpochSeconds.toDecimal(from), EpochSeconds.toDecimal(held));
            Instant after = look(this.firstSince, consumer, EpochSeconds.toDecimal(held));
            if (before == null
                    || after == null
                    || Duration.between(before, after).compareTo(retention) <= 0) {
                return held;
            }
            held = before.minus(retention);
        }
        return held;
    }

    private @Nullable Instant look(String sql, Object... parameters) {
        BigDecimal seconds = this.jdbc.queryForObject(sql, BigDecimal.class, parameters);
        return (seconds != null) ? EpochSeconds.toInstant(seconds) : null;
    }

    private Purged<Instant> purgeBefore(Instant cutoff, String condition, String consumer, Instant from, int limit) {
        if (!cutoff.isAfter(from)) {
            return new Purged<>(0, from);
        }
        List<Object> ids = new ArrayList<>();
        Instant upTo = this.jdbc.query(
                this.lock + condition + OLDEST_FIRST + this.database.dialect().rows(0, limit)
                        + " for update skip locked",
                rows -> {
                    Instant youngest = from;
                    while (rows.next()) {
                        ids.add(rows.getString(1));
                        youngest = EpochSeconds.toInstant(rows.getBigDecimal(2));
                    }
                    return youngest;
                },
                consumer,
                EpochSeconds.toDecimal(from),
                EpochSeconds.toDecimal(cutoff));
        int deleted = 0;
        for (int start = 0; start < ids.size(); start += IDS_PER_DELETE) {
            List<Object> parameters = new ArrayList<>(ids.subList(start, Math.min(start + IDS_PER_DELETE, ids.size())));
            String sql = DELETE.formatted(this.table, "?" + ", ?".repeat(parameters.size() - 1), this.time) + condition;
            parameters.add(0, consumer);
            parameters.add(EpochSeconds.toDecimal(cutoff));
            deleted += this.jdbc.update(sql, parameters.toArray());
        }
        return new Purged<>(deleted, upTo);
    }
}
