package dev.idempotency.database;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/**
 * PostgreSQL: one statement whatever the number of partitions. The row is locked before it is compared, so that the answer
 * is that of the transaction that came before.
 */
final class PostgresPositionStatement implements PositionStatement {

    private static final String MOVE = """
            on conflict (consumer_id, record_topic, record_partition) do update
            set previous_offset = position.next_offset, next_offset = excluded.next_offset,
                processed_at = excluded.processed_at
            where position.topic_id = excluded.topic_id and position.next_offset < excluded.next_offset
            returning record_topic, record_partition, previous_offset
            """;

    private static final String ONE = """
            insert into %s as position (
                consumer_id, record_topic, record_partition, topic_id, previous_offset, next_offset
            )
            values (?, ?, ?, ?, ?, ?)
            """ + MOVE;

    private static final String MANY = """
            insert into %s as position (
                consumer_id, record_topic, record_partition, topic_id, previous_offset, next_offset
            )
            select ?, claim.record_topic, claim.record_partition, claim.topic_id, claim.first_offset, claim.next_offset
            from unnest(?, ?, ?, ?, ?)
                as claim (record_topic, record_partition, topic_id, first_offset, next_offset)
            order by claim.record_topic collate "C", claim.record_partition
            """ + MOVE;

    private final String one;
    private final String many;
    private final StatementWatch watch = new StatementWatch();

    PostgresPositionStatement(String table) {
        this.one = ONE.formatted(table);
        this.many = MANY.formatted(table);
    }

    @Override
    public Map<PositionClaim, Long> execute(Connection connection, List<PositionClaim> claims, int timeoutSeconds)
            throws SQLException {
        boolean single = claims.size() == 1;
        try (PreparedStatement statement = connection.prepareStatement(single ? this.one : this.many)) {
            if (single) {
                bind(statement, claims.get(0));
            } else {
                bind(statement, claims, connection);
            }
            this.watch.begin(statement, timeoutSeconds);
            try (ResultSet rows = statement.executeQuery()) {
                return moved(rows, claims);
            } finally {
                this.watch.end(statement);
            }
        }
    }

    private static void bind(PreparedStatement statement, PositionClaim claim) throws SQLException {
        statement.setString(1, claim.consumer());
        statement.setString(2, claim.topic());
        statement.setInt(3, claim.partition());
        statement.setString(4, claim.topicId());
        statement.setLong(5, claim.from());
        statement.setLong(6, claim.to());
    }

    private static void bind(PreparedStatement statement, List<PositionClaim> claims, Connection connection)
            throws SQLException {
        statement.setString(1, claims.get(0).consumer());
        statement.setArray(2, connection.createArrayOf("varchar", array(claims, PositionClaim::topic)));
        statement.setArray(3, connection.createArrayOf("int4", array(claims, PositionClaim::partition)));
        statement.setArray(4, connection.createArrayOf("varchar", array(claims, PositionClaim::topicId)));
        statement.setArray(5, connection.createArrayOf("int8", array(claims, PositionClaim::from)));
        statement.setArray(6, connection.createArrayOf("int8", array(claims, PositionClaim::to)));
    }

    private static Object[] array(List<PositionClaim> claims, Function<PositionClaim, Object> part) {
        return claims.stream().map(part).toArray();
    }

    private static Map<PositionClaim, Long> moved(ResultSet rows, List<PositionClaim> claims) throws SQLException {
        Map<PositionClaim, Long> moved = new HashMap<>();
        while (rows.next()) {
            String topic = rows.getString(1);
            int partition = rows.getInt(2);
            long previous = rows.getLong(3);
            claims.stream()
                    .filter(claim ->
                            claim.partition() == partition && claim.topic().equals(topic))
                    .forEach(claim -> moved.put(claim, previous));
        }
        return moved;
    }

    @Override
    public void close() {
        this.watch.close();
    }
}
