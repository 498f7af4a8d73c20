package dev.idempotency.database;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Moves positions in PostgreSQL with one statement, whatever the number of partitions. */
final class PostgresPositions implements PositionStatement {

    private static final String MOVE = """
            insert into %s as position (
                consumer_id, record_topic, record_partition, topic_id, previous_offset, next_offset
            )
            values %s
            on conflict (consumer_id, record_topic, record_partition) do update
            set previous_offset = position.next_offset, next_offset = excluded.next_offset,
                processed_at = excluded.processed_at
            where position.topic_id = excluded.topic_id and position.next_offset < excluded.next_offset
            returning previous_offset, record_topic, record_partition
            """;

    private static final String ROW = "(?, ?, ?, ?, ?, ?)";

    private final String table;
    private final String one;

    PostgresPositions(String table) {
        this.table = table;
        this.one = MOVE.formatted(table, ROW);
    }

    @Override
    public Map<PositionClaim, Long> execute(Connection connection, List<PositionClaim> claims, int timeoutSeconds)
            throws SQLException {
        String sql = (claims.size() == 1)
                ? this.one
                : MOVE.formatted(this.table, ROW + (", " + ROW).repeat(claims.size() - 1));
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
            statement.setQueryTimeout(timeoutSeconds);
            int index = 1;
            for (PositionClaim claim : claims) {
                statement.setString(index++, claim.consumer());
                statement.setString(index++, claim.topic());
                statement.setInt(index++, claim.partition());
                statement.setString(index++, claim.topicId());
                statement.setLong(index++, claim.from());
                statement.setLong(index++, claim.to());
            }
            try (ResultSet rows = statement.executeQuery()) {
                if (claims.size() == 1) {
                    return rows.next() ? Map.of(claims.get(0), rows.getLong(1)) : Map.of();
                }
                Map<PositionClaim, Long> moved = new HashMap<>();
                while (rows.next()) {
                    long previous = rows.getLong(1);
                    String topic = rows.getString(2);
                    int partition = rows.getInt(3);
                    claims.stream()
                            .filter(claim -> claim.partition() == partition
                                    && claim.topic().equals(topic))
                            .forEach(claim -> moved.put(claim, previous));
                }
                return moved;
            }
        }
    }
}
