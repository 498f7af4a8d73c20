package dev.idempotency.database;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * PostgreSQL: one statement whatever the number of partitions. Of one partition, it is an update, which writes nothing where
 * the position has come that far; what makes the positions that are not there locks them before they are compared.
 */
final class PostgresPositionStatement implements PositionStatement {

    private static final String OF_TOPIC =
            "consumer_id = ? and record_topic = ? and record_partition = ? and topic_id = ?";

    private static final String PASSED = "select next_offset from %s where " + OF_TOPIC + " and next_offset >= ?";

    private static final String MOVE = """
            update %s
            set previous_offset = next_offset, next_offset = ?, processed_at = current_timestamp
            where\s""" + OF_TOPIC + """
             and next_offset < ?
            """;

    private static final String RETURNING = "returning record_topic, record_partition, previous_offset";

    private static final String OR_MOVE = """
            on conflict (consumer_id, record_topic, record_partition) do update
            set previous_offset = position.next_offset, next_offset = excluded.next_offset,
                processed_at = excluded.processed_at
            where position.topic_id = excluded.topic_id and position.next_offset < excluded.next_offset
            """ + RETURNING;

    private static final String MAKE_ONE = """
            insert into %s as position (
                consumer_id, record_topic, record_partition, topic_id, previous_offset, next_offset
            )
            values (?, ?, ?, ?, ?, ?)
            """ + OR_MOVE;

    private static final String MAKE_MANY = """
            insert into %s as position (
                consumer_id, record_topic, record_partition, topic_id, previous_offset, next_offset
            )
            select ?, claim.record_topic, claim.record_partition, claim.topic_id, claim.first_offset, claim.next_offset
            from unnest(
                    cast(? as varchar[]), cast(? as integer[]), cast(? as varchar[]), cast(? as bigint[]),
                    cast(? as bigint[]))
                as claim (record_topic, record_partition, topic_id, first_offset, next_offset)
            order by claim.record_topic collate "C", claim.record_partition
            """ + OR_MOVE;

    private final String passed;
    private final String moveByOne;
    private final String move;
    private final String makeOne;
    private final String makeMany;

    /** Those that are likely to be there. */
    private final Set<Key> made = ConcurrentHashMap.newKeySet();

    PostgresPositionStatement(String table) {
        this.passed = PASSED.formatted(table);
        this.moveByOne = MOVE.formatted(table);
        this.move = this.moveByOne + RETURNING;
        this.makeOne = MAKE_ONE.formatted(table);
        this.makeMany = MAKE_MANY.formatted(table);
    }

    @Override
    public Map<PositionClaim, Long> execute(Connection connection, List<PositionClaim> claims, int timeoutSeconds)
            throws SQLException {
        if (claims.size() > 1) {
            return execute(connection, this.makeMany, claims, timeoutSeconds, PostgresPositionStatement::bindMany);
        }
        PositionClaim claim = claims.get(0);
        if (!this.made.add(new Key(claim.consumer(), claim.topic(), claim.partition()))) {
            Map<PositionClaim, Long> moved = claim.isSingle()
                    ? moveByOne(connection, claim, timeoutSeconds)
                    : execute(connection, this.move, claims, timeoutSeconds, PostgresPositionStatement::bindMove);
            if (!moved.isEmpty()) {
                return moved;
            }
        }
        return execute(connection, this.makeOne, claims, timeoutSeconds, PostgresPositionStatement::bindOne);
    }

    private record Key(String consumer, String topic, int partition) {}

    /** Where it was moved, the only record has not been processed, wherever the position stood. */
    private Map<PositionClaim, Long> moveByOne(Connection connection, PositionClaim claim, int timeoutSeconds)
            throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(this.moveByOne)) {
            statement.setQueryTimeout(timeoutSeconds);
            bindMove(statement, List.of(claim));
            return (statement.executeUpdate() == 1) ? Map.of(claim, claim.from()) : Map.of();
        }
    }

    @FunctionalInterface
    private interface Binder {

        void bind(PreparedStatement statement, List<PositionClaim> claims) throws SQLException;
    }

    private Map<PositionClaim, Long> execute(
            Connection connection, String sql, List<PositionClaim> claims, int timeoutSeconds, Binder binder)
            throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
            statement.setQueryTimeout(timeoutSeconds);
            binder.bind(statement, claims);
            try (ResultSet rows = statement.executeQuery()) {
                return moved(rows, claims);
            }
        }
    }

    private static void bindMove(PreparedStatement statement, List<PositionClaim> claims) throws SQLException {
        PositionClaim claim = claims.get(0);
        statement.setLong(1, claim.to());
        bindTopic(statement, 2, claim);
        statement.setLong(6, claim.to());
    }

    private static void bindOne(PreparedStatement statement, List<PositionClaim> claims) throws SQLException {
        PositionClaim claim = claims.get(0);
        bindTopic(statement, 1, claim);
        statement.setLong(5, claim.from());
        statement.setLong(6, claim.to());
    }

    private static void bindTopic(PreparedStatement statement, int index, PositionClaim claim) throws SQLException {
        statement.setString(index, claim.consumer());
        statement.setString(index + 1, claim.topic());
        statement.setInt(index + 2, claim.partition());
        statement.setString(index + 3, claim.topicId());
    }

    private static void bindMany(PreparedStatement statement, List<PositionClaim> claims) throws SQLException {
        Connection connection = statement.getConnection();
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
        if (claims.size() == 1) {
            return rows.next() ? Map.of(claims.get(0), rows.getLong(3)) : Map.of();
        }
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

    /** Each statement sees what is committed then or, with a higher isolation, what the first one saw, whichever it was. */
    @Override
    public @Nullable Long findPassed(Connection connection, PositionClaim claim, int timeoutSeconds)
            throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(this.passed)) {
            statement.setQueryTimeout(timeoutSeconds);
            bindTopic(statement, 1, claim);
            statement.setLong(5, claim.to());
            try (ResultSet rows = statement.executeQuery()) {
                return rows.next() ? rows.getLong(1) : null;
            }
        }
    }
}
