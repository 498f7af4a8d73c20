package dev.idempotency.internal.database;

import dev.idempotency.Claim;
import dev.idempotency.MessageId;
import dev.idempotency.RecordCoordinates;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Types;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.core.PreparedStatementCallback;

/** Statements for claims, positions and versions row by row, for databases that cannot say what became of each of many rows. */
final class SingleRowStatements {

    private SingleRowStatements() {}

    /** Gives an insert the claim's six values. */
    static void bind(PreparedStatement statement, Claim claim) throws SQLException {
        RecordCoordinates coordinates = claim.coordinates();
        statement.setString(1, claim.id().consumer());
        statement.setString(2, claim.id().value());
        statement.setString(3, coordinates.topic());
        statement.setInt(4, coordinates.partition());
        statement.setLong(5, coordinates.offset());
        statement.setObject(6, claim.payloadDigest(), Types.BIGINT);
    }

    /** Gives an insert the six values of a claim, after so many others. */
    static void bind(PreparedStatement statement, int after, PositionClaim claim) throws SQLException {
        Positions.bindKey(statement, after, claim);
        statement.setString(after + 4, claim.topicId());
        statement.setLong(after + 5, claim.from());
        statement.setLong(after + 6, claim.to());
    }

    /** Gives a statement the seven values of a claim, after so many others. */
    static void bind(PreparedStatement statement, int after, VersionClaim claim) throws SQLException {
        statement.setString(after + 1, claim.entity().consumer());
        statement.setString(after + 2, claim.entity().value());
        statement.setString(after + 3, claim.kind());
        statement.setBigDecimal(after + 4, claim.version().value());
        statement.setString(after + 5, claim.coordinates().topic());
        statement.setInt(after + 6, claim.coordinates().partition());
        statement.setLong(after + 7, claim.coordinates().offset());
    }

    /**
     * Claims with one prepared statement.
     *
     * @param sql the insert of six values
     * @param insertion executes it, and says whether a row was inserted, rather than being there already
     */
    record Claims(String sql, PreparedStatementCallback<Boolean> insertion) implements ClaimStatement {

        @Override
        public Set<MessageId> execute(Connection connection, List<Claim> claims, int timeoutSeconds)
                throws SQLException {
            try (PreparedStatement statement = connection.prepareStatement(this.sql)) {
                ClaimDeadline deadline = new ClaimDeadline(timeoutSeconds);
                Set<MessageId> claimed = new HashSet<>(claims.size() * 2);
                for (Claim claim : claims) {
                    deadline.limit(statement);
                    bind(statement, claim);
                    if (this.insertion.doInPreparedStatement(statement)) {
                        claimed.add(claim.id());
                    }
                }
                return claimed;
            }
        }
    }

    /**
     * Moves positions: one round trip for a single record, two for several. A missing position is created; if another
     * transaction has created it meanwhile, it is moved after all.
     */
    record Positions(String move, String previous, String isThere, String make) implements PositionStatement {

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
                """;

        private static final String VIOLATED_CONSTRAINT = "23";

        /** {@code ending} is the end of a query that sees the latest row. */
        Positions(String table, String now, String ending) {
            this(
                    MOVE.formatted(table, now, THIS),
                    PREVIOUS.formatted(table, THIS, ending),
                    IS_THERE.formatted(table, THIS),
                    MAKE.formatted(table));
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
                bindKey(statement, 1, claim);
                statement.setString(5, claim.topicId());
                statement.setLong(6, claim.to());
                if (statement.executeUpdate() == 0) {
                    return null;
                }
            }
            return claim.isSingle() ? Long.valueOf(claim.from()) : find(this.previous, connection, claim, deadline);
        }

        private static @Nullable Long find(
                String query, Connection connection, PositionClaim claim, ClaimDeadline deadline) throws SQLException {
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
                bind(statement, 0, claim);
                statement.executeUpdate();
                return true;
            } catch (SQLException ex) {
                if (ex.getSQLState() == null || !ex.getSQLState().startsWith(VIOLATED_CONSTRAINT)) {
                    throw ex;
                }
                return false;
            }
        }

        static void bindKey(PreparedStatement statement, int after, PositionClaim claim) throws SQLException {
            statement.setString(after + 1, claim.consumer());
            statement.setString(after + 2, claim.topic());
            statement.setInt(after + 3, claim.partition());
        }
    }

    /**
     * Replaces versions. A token in the row shows whether it was replaced: the row count does not, as MySQL and MariaDB may
     * count a row that was left as it is like a new one.
     */
    static final class Versions implements VersionStatement {

        private static final String FIND = "select claim_token, %s from %s where consumer_id = ? and message_id = ?%s";

        private final String move;
        private final PreparedStatementCallback<Boolean> execution;
        private final String find;

        /**
         * Replaces versions in a table.
         *
         * @param move the statement, with parameters for the entity (2), the version (2), the coordinates (3) and the token
         */
        Versions(
                String move,
                String table,
                PreparedStatementCallback<Boolean> execution,
                String columns,
                String ending) {
            this.move = move;
            this.execution = execution;
            this.find = FIND.formatted(columns, table, ending);
        }

        @Override
        public Map<MessageId, Optional<StoredVersion>> execute(
                Connection connection, List<VersionClaim> claims, int timeoutSeconds) throws SQLException {
            Map<MessageId, Optional<StoredVersion>> moved = new HashMap<>(claims.size() * 2);
            ClaimDeadline deadline = new ClaimDeadline(timeoutSeconds);
            long token = ThreadLocalRandom.current().nextLong();
            try (PreparedStatement move = connection.prepareStatement(this.move);
                    PreparedStatement find = connection.prepareStatement(this.find)) {
                for (VersionClaim claim : claims) {
                    MessageId entity = claim.entity();
                    deadline.limit(move);
                    bind(move, 0, claim);
                    move.setLong(8, token);
                    this.execution.doInPreparedStatement(move);
                    deadline.limit(find);
                    find.setString(1, entity.consumer());
                    find.setString(2, entity.value());
                    try (ResultSet row = find.executeQuery()) {
                        if (row.next() && row.getLong(1) == token) {
                            moved.put(entity, StoredVersion.readPrevious(entity, row, 2));
                        }
                    }
                }
            }
            return moved;
        }
    }
}
