package dev.idempotency.database;

import java.math.BigDecimal;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.core.JdbcTemplate;

/**
 * Finds out, with a few look-ups in the index, before which time messages may be forgotten, locks the oldest of them that
 * nobody else holds, then deletes these: for databases that cannot do so in one statement. The time that is found stays
 * true: activity moves it on, never back.
 */
final class StepwisePurgeStatement implements PurgeStatement {

    private static final int IDS_PER_DELETE = 500;

    private static final String LAST = "select coalesce(%s, (%s)), %s from %s where consumer_id = ?";

    private static final String MAX = "select %s from %s where consumer_id = ?";

    private static final String LAST_BEFORE =
            "select %s from %s where consumer_id = ? and processed_at >= %s and processed_at < %s";

    private static final String FIRST_SINCE = "select %s from %s where consumer_id = ? and processed_at >= %s";

    private static final String LOCK = """
            select message_id, %s
            from %s
            where consumer_id = ? and processed_at >= %s and processed_at < %s
            order by processed_at
            %s
            for update skip locked
            """;

    private static final String DELETE = "delete from %s where consumer_id = ? and message_id in (%s)";

    private final String table;
    private final Dialect dialect;
    private final boolean abandoned;
    private final String last;
    private final String lastBefore;
    private final String firstSince;

    private StepwisePurgeStatement(String table, String processed, Dialect dialect, boolean abandoned) {
        this.table = table;
        this.dialect = dialect;
        this.abandoned = abandoned;
        String max = dialect.secondsOf("max(processed_at)");
        String time = dialect.timeOfSeconds();
        this.last = LAST.formatted(max, MAX.formatted(max, table), dialect.secondsOfNow(), processed);
        this.lastBefore = LAST_BEFORE.formatted(max, processed, time, time);
        this.firstSince = FIRST_SINCE.formatted(dialect.secondsOf("min(processed_at)"), processed, time);
    }

    /** As {@link Dialect#purgeExpiredIn} says. */
    static StepwisePurgeStatement ofExpired(String table, String processed, Dialect dialect) {
        return new StepwisePurgeStatement(table, processed, dialect, false);
    }

    /** As {@link Dialect#purgeAbandonedIn} says. */
    static StepwisePurgeStatement ofAbandoned(String table, String processed, Dialect dialect) {
        return new StepwisePurgeStatement(table, processed, dialect, true);
    }

    @Override
    public Purged execute(JdbcTemplate jdbc, Request request) {
        Instant cutoff = jdbc.query(
                this.last,
                row -> {
                    row.next();
                    BigDecimal latest = row.getBigDecimal(1);
                    return (latest != null)
                            ? cutoff(
                                    EpochSeconds.toInstant(latest),
                                    EpochSeconds.toInstant(row.getBigDecimal(2)),
                                    request)
                            : null;
                },
                request.consumer(),
                request.consumer());
        if (cutoff != null && !this.abandoned) {
            cutoff = heldBeforePauses(cutoff, jdbc, request);
        }
        return (cutoff != null && cutoff.isAfter(request.from()))
                ? purgeBefore(cutoff, jdbc, request)
                : new Purged(0, request.from());
    }

    private @Nullable Instant cutoff(Instant latest, Instant now, Request request) {
        if (this.abandoned) {
            return latest.isBefore(now.minus(request.age())) ? latest.plusNanos(1_000) : null;
        }
        return (latest.isBefore(now) ? latest : now).minus(request.age());
    }

    /** What stands before the request's beginning is not looked at: a drain would walk over what it has just deleted. */
    private Instant heldBeforePauses(Instant cutoff, JdbcTemplate jdbc, Request request) {
        Instant held = cutoff;
        for (int pauses = 0; pauses < PAUSES && held.isAfter(request.from()); pauses++) {
            BigDecimal from = EpochSeconds.toDecimal(request.from());
            BigDecimal until = EpochSeconds.toDecimal(held);
            Instant before = look(jdbc, this.lastBefore, request.consumer(), from, until);
            Instant after = look(jdbc, this.firstSince, request.consumer(), until);
            boolean pause = before != null
                    && after != null
                    && Duration.between(before, after).compareTo(request.age()) > 0;
            if (!pause) {
                return held;
            }
            held = before.minus(request.age());
        }
        return held;
    }

    private static @Nullable Instant look(JdbcTemplate jdbc, String sql, Object... parameters) {
        BigDecimal seconds = jdbc.queryForObject(sql, BigDecimal.class, parameters);
        return (seconds != null) ? EpochSeconds.toInstant(seconds) : null;
    }

    private Purged purgeBefore(Instant cutoff, JdbcTemplate jdbc, Request request) {
        List<Object> ids = new ArrayList<>();
        String time = this.dialect.timeOfSeconds();
        Instant upTo = jdbc.query(
                LOCK.formatted(
                        this.dialect.secondsOf("processed_at"),
                        this.table,
                        time,
                        time,
                        this.dialect.rows(0, request.limit())),
                rows -> {
                    Instant youngest = request.from();
                    while (rows.next()) {
                        Instant processedAt = EpochSeconds.toInstant(rows.getBigDecimal(2));
                        // In the hour that clocks repeat, the database may have taken one time for another.
                        if (processedAt.isBefore(cutoff)) {
                            ids.add(rows.getString(1));
                            youngest = processedAt;
                        }
                    }
                    return youngest;
                },
                request.consumer(),
                EpochSeconds.toDecimal(request.from()),
                EpochSeconds.toDecimal(cutoff));
        int deleted = 0;
        for (int from = 0; from < ids.size(); from += IDS_PER_DELETE) {
            List<Object> some = ids.subList(from, Math.min(from + IDS_PER_DELETE, ids.size()));
            List<Object> parameters = new ArrayList<>(some);
            parameters.add(0, request.consumer());
            String sql = DELETE.formatted(this.table, "?" + ", ?".repeat(some.size() - 1));
            deleted += jdbc.update(sql, parameters.toArray());
        }
        return new Purged(deleted, upTo);
    }
}
