package dev.idempotency.database;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Savepoint;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Moves one position after the other with plain statements: one round trip for a single record, two for several. A position
 * that is not there yet is made; where somebody else has made it meanwhile, it is moved after all.
 */
final class SingleRowPositions implements PositionStatement {

    private static final String THIS = "consumer_id = ? and record_topic = ? and record_partition = ?";

    private static final String MOVE = """
            update %s
            set previous_offset = next_offset, next_offset = ?, processed_at = %s
            where %s and topic_id = ? and next_offset < ?
            """;

    private static final String PREVIOUS = "select previous_offset from %s where %s";

    /** Also tells what others have committed since the transaction began, where it would not see that otherwise. */
    private static final String IS_THERE = "select next_offset from %s where %s for update";

    private static final String MAKE = """
            insert into %s (consumer_id, record_topic, record_partition, topic_id, previous_offset, next_offset)
            values (?, ?, ?, ?, ?, ?)
            """;

    private static final String VIOLATED_CONSTRAINT = "23";

    private final String move;
    private final String previous;
    private final String isThere;
    private final String make;

    SingleRowPositions(String table, String now) {
        this.move = MOVE.formatted(table, now, THIS);
        this.previous = PREVIOUS.formatted(table, THIS);
        this.isThere = IS_THERE.formatted(table, THIS);
        this.make = MAKE.formatted(table);
    }

    @Override
    public Map<PositionClaim, Long> execute(Connection connection, List<PositionClaim> claims, int timeoutSeconds)
            throws SQLException {
        Map<PositionClaim, Long> moved = new HashMap<>();
        ClaimDeadline deadline = new ClaimDeadline(timeoutSeconds);
        for (PositionClaim claim : claims) {
            Long previous = move(connection, claim, deadline);
            if (previous == null && find(this.isThere, connection, claim, deadline) == null) {
                previous = make(connection, claim, deadline)
                        ? Long.valueOf(claim.from())
                        : move(connection, claim, deadline);
            }
            if (previous != null) {
                moved.put(claim, previous);
            }
        }
        return moved;
    }

    private @Nullable Long move(Connection connection, PositionClaim claim, ClaimDeadline deadline)
            throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(this.move)) {
            deadline.limit(statement);
            statement.setLong(1, claim.to());
            bind(statement, 2, claim);
            statement.setString(5, claim.topicId());
            statement.setLong(6, claim.to());
            if (statement.executeUpdate() == 0) {
                return null;
            }
        }
        return claim.isSingle() ? Long.valueOf(claim.from()) : find(this.previous, connection, claim, deadline);
    }

    private static @Nullable Long find(String query, Connection connection, PositionClaim claim, ClaimDeadline deadline)
            throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(query)) {
            deadline.limit(statement);
            bind(statement, 1, claim);
            try (ResultSet row = statement.executeQuery()) {
                return row.next() ? row.getLong(1) : null;
            }
        }
    }

    /** Uses a savepoint, as some databases abort a transaction in which a statement fails. */
    private boolean make(Connection connection, PositionClaim claim, ClaimDeadline deadline) throws SQLException {
        Savepoint before = connection.setSavepoint();
        try (PreparedStatement statement = connection.prepareStatement(this.make)) {
            deadline.limit(statement);
            bind(statement, 1, claim);
            statement.setString(4, claim.topicId());
            statement.setLong(5, claim.from());
            statement.setLong(6, claim.to());
            statement.executeUpdate();
            return true;
        } catch (SQLException ex) {
            if (ex.getSQLState() == null || !ex.getSQLState().startsWith(VIOLATED_CONSTRAINT)) {
                throw ex;
            }
            connection.rollback(before);
            return false;
        }
    }

    private static void bind(PreparedStatement statement, int index, PositionClaim claim) throws SQLException {
        statement.setString(index, claim.consumer());
        statement.setString(index + 1, claim.topic());
        statement.setInt(index + 2, claim.partition());
    }
}
