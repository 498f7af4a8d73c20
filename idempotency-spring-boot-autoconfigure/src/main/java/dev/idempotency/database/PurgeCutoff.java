package dev.idempotency.database;

import java.math.BigDecimal;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * Finds out before which time messages of a consumer may be forgotten, with a few look-ups in the index, for databases
 * that cannot do so in the statement that forgets them. What is found stays true: activity moves it on, never back.
 */
final class PurgeCutoff {

    private static final String LAST = "select %s, %s from %s where consumer_id = ?";

    private static final String LAST_BEFORE =
            "select %s from %s where consumer_id = ? and processed_at >= %s and processed_at < %s";

    private static final String FIRST_SINCE = "select %s from %s where consumer_id = ? and processed_at >= %s";

    private final boolean abandoned;
    private final String last;
    private final String lastBefore;
    private final String firstSince;

    private PurgeCutoff(String table, Dialect dialect, boolean abandoned) {
        this.abandoned = abandoned;
        String max = dialect.secondsOf("max(processed_at)");
        this.last = LAST.formatted(max, dialect.secondsOfNow(), table);
        String time = dialect.timeOfSeconds();
        this.lastBefore = LAST_BEFORE.formatted(max, table, time, time);
        this.firstSince = FIRST_SINCE.formatted(dialect.secondsOf("min(processed_at)"), table, time);
    }

    /** As {@link Dialect#purgeExpiredIn} says. */
    static PurgeCutoff ofExpired(String table, Dialect dialect) {
        return new PurgeCutoff(table, dialect, false);
    }

    /** As {@link Dialect#purgeAbandonedIn} says. */
    static PurgeCutoff ofAbandoned(String table, Dialect dialect) {
        return new PurgeCutoff(table, dialect, true);
    }

    /** The time before which messages may be forgotten, or {@code null} if none may be. */
    @Nullable
    Instant find(Connection connection, PurgeRequest request, int timeoutSeconds) throws SQLException {
        Instant latest;
        Instant now;
        try (PreparedStatement statement = connection.prepareStatement(this.last)) {
            statement.setQueryTimeout(timeoutSeconds);
            statement.setString(1, request.consumer());
            try (ResultSet row = statement.executeQuery()) {
                row.next();
                BigDecimal seconds = row.getBigDecimal(1);
                if (seconds == null) {
                    return null;
                }
                latest = EpochSeconds.toInstant(seconds);
                now = EpochSeconds.toInstant(row.getBigDecimal(2));
            }
        }
        if (this.abandoned) {
            return latest.isBefore(now.minus(request.age())) ? latest.plusNanos(1_000) : null;
        }
        Instant cutoff = (latest.isBefore(now) ? latest : now).minus(request.age());
        return heldBeforePauses(cutoff, connection, request, timeoutSeconds);
    }

    /** What stands before the request's beginning is not looked at: a drain would walk over what it has just deleted. */
    private Instant heldBeforePauses(Instant cutoff, Connection connection, PurgeRequest request, int timeoutSeconds)
            throws SQLException {
        Instant held = cutoff;
        for (int pauses = 0; pauses < PurgeRequest.PAUSES; pauses++) {
            if (!held.isAfter(request.from())) {
                return held;
            }
            Instant before = look(connection, request, timeoutSeconds, this.lastBefore, request.from(), held);
            Instant after = look(connection, request, timeoutSeconds, this.firstSince, held);
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

    private static @Nullable Instant look(
            Connection connection, PurgeRequest request, int timeoutSeconds, String sql, Instant... times)
            throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
            statement.setQueryTimeout(timeoutSeconds);
            statement.setString(1, request.consumer());
            for (int i = 0; i < times.length; i++) {
                statement.setBigDecimal(i + 2, EpochSeconds.toDecimal(times[i]));
            }
            try (ResultSet row = statement.executeQuery()) {
                row.next();
                BigDecimal seconds = row.getBigDecimal(1);
                return (seconds != null) ? EpochSeconds.toInstant(seconds) : null;
            }
        }
    }
}
