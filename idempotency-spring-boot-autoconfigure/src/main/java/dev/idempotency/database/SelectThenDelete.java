package dev.idempotency.database;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;

/** Locks the oldest rows that nobody else holds, then deletes them, for databases that cannot do both in one statement. */
final class SelectThenDelete implements PurgeStatement {

    private static final int IDS_PER_DELETE = 500;

    private static final String SELECT = """
            select message_id, %s
            from %s
            where consumer_id = ? and processed_at >= %s and processed_at < %s
            order by processed_at
            %s
            for update skip locked
            """;

    private static final String DELETE = "delete from %s where consumer_id = ? and message_id in (%s)";

    private final String table;
    private final PurgeCutoff cutoff;
    private final String select;

    /** {@code limit} is the clause with one parameter, the number of rows. */
    SelectThenDelete(String table, Dialect dialect, PurgeCutoff cutoff, String limit) {
        this.table = table;
        this.cutoff = cutoff;
        String time = dialect.timeOfSeconds();
        this.select = SELECT.formatted(dialect.secondsOf("processed_at"), table, time, time, limit);
    }

    @Override
    public Purged execute(Connection connection, PurgeRequest request, int timeoutSeconds) throws SQLException {
        Instant before = this.cutoff.find(connection, request, timeoutSeconds);
        if (before == null || !before.isAfter(request.from())) {
            return new Purged(0, request.from());
        }
        List<String> ids = new ArrayList<>();
        Instant upTo = lock(connection, request, before, timeoutSeconds, ids);
        int rows = 0;
        for (int from = 0; from < ids.size(); from += IDS_PER_DELETE) {
            List<String> some = ids.subList(from, Math.min(from + IDS_PER_DELETE, ids.size()));
            rows += delete(connection, request.consumer(), some, timeoutSeconds);
        }
        return new Purged(rows, upTo);
    }

    private Instant lock(
            Connection connection, PurgeRequest request, Instant before, int timeoutSeconds, List<String> ids)
            throws SQLException {
        Instant upTo = request.from();
        try (PreparedStatement statement = connection.prepareStatement(this.select)) {
            statement.setQueryTimeout(timeoutSeconds);
            statement.setString(1, request.consumer());
            statement.setBigDecimal(2, EpochSeconds.toDecimal(request.from()));
            statement.setBigDecimal(3, EpochSeconds.toDecimal(before));
            statement.setInt(4, request.limit());
            try (ResultSet rows = statement.executeQuery()) {
                while (rows.next()) {
                    Instant processedAt = EpochSeconds.toInstant(rows.getBigDecimal(2));
                    // In the hour that clocks repeat, the database may have taken one time for another.
                    if (processedAt.isBefore(before)) {
                        ids.add(rows.getString(1));
                        upTo = processedAt;
                    }
                }
            }
        }
        return upTo;
    }

    private int delete(Connection connection, String consumer, List<String> ids, int timeoutSeconds)
            throws SQLException {
        String sql = DELETE.formatted(this.table, "?" + ", ?".repeat(ids.size() - 1));
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
            statement.setQueryTimeout(timeoutSeconds);
            statement.setString(1, consumer);
            for (int i = 0; i < ids.size(); i++) {
                statement.setString(i + 2, ids.get(i));
            }
            return statement.executeUpdate();
        }
    }
}
