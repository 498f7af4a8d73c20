package dev.idempotency.internal.database;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Moves the positions of a consumer forward, and says from where: one round trip for a single record, two for several. A
 * position that is not there yet is made; where somebody else has made it meanwhile, it is moved after all.
 */
public final class PositionStatement {

    private static final String THIS = "consumer_id = ? and record_topic = ? and record_partition = ?";

    private static final String MOVE = """
            update %s
            set previous_offset = next_offset, next_offset = ?, processed_at = %s
            where %s and topic_id = ? and next_offset < ?
            """;

    private static final String PREVIOUS = "select previous_offset from %s where %s%s";

    /** Also tells what others have committed since the transaction began, where it would not see that otherwise. */
    private static final String IS_THERE = "select next_offset from %s where %s for update";

    private static final String MAKE = """
            insert into %s (consumer_id, record_topic, record_partition, topic_id, previous_offset, next_offset)
            values (?, ?, ?, ?, ?, ?)
            %s
            """;

    private static final String VIOLATED_CONSTRAINT = "23";

    private final String move;
    private final String previous;
    private final String isThere;
    private final String make;

    public PositionStatement(String table, Dialect dialect) {
        this.move = MOVE.formatted(table, dialect.now(), THIS);
        this.previous = PREVIOUS.formatted(table, THIS, dialect.currentRead());
        this.isThere = IS_THERE.formatted(table, THIS);
        this.make = MAKE.formatted(table, dialect.unlessDuplicate());
    }

    /**
     * Moves each position to where its claim ends, if it is of the same topic and has not come that far; creates it if it does
     * not exist. Waits for other transactions that hold one of the positions, in an order that is the same for everyone.
     *
     * @param connection the connection of the current transaction
     * @param claims claims of one consumer, one for each partition, sorted by topic and partition; at least one
     * @param timeoutSeconds how long it may take, with all its statements, at least 1
     * @return the claims whose position was moved, with the offset before which their records have been processed already
     */
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
            bindKey(statement, 1, claim);
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
            bindKey(statement, 0, claim);
            try (ResultSet row = statement.executeQuery()) {
                return row.next() ? row.getLong(1) : null;
            }
        }
    }

    private boolean make(Connection connection, PositionClaim claim, ClaimDeadline deadline) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(this.make)) {
            deadline.limit(statement);
            bindKey(statement, 0, claim);
            statement.setString(4, claim.topicId());
            statement.setLong(5, claim.from());
            statement.setLong(6, claim.to());
            return statement.executeUpdate() == 1;
        } catch (SQLException ex) {
            if (ex.getSQLState() == null || !ex.getSQLState().startsWith(VIOLATED_CONSTRAINT)) {
                throw ex;
            }
            return false;
        }
    }

    private static void bindKey(PreparedStatement statement, int after, PositionClaim claim) throws SQLException {
        statement.setString(after + 1, claim.consumer());
        statement.setString(after + 2, claim.topic());
        statement.setInt(after + 3, claim.partition());
    }
}
