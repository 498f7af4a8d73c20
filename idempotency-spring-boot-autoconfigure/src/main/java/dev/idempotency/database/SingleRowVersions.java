package dev.idempotency.database;

import dev.idempotency.MessageId;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ThreadLocalRandom;

/** Moves versions on row by row, for databases that cannot say what rows were before an update. */
final class SingleRowVersions implements VersionStatement {

    private final String previous;
    private final Move move;

    /** {@code move} tries to move one version on. */
    SingleRowVersions(String table, Dialect dialect, Move move) {
        this.previous = "select %s from %s where consumer_id = ? and message_id = ?%s"
                .formatted(VersionColumns.ofPrevious(dialect), table, currentRead());
        this.move = move;
    }

    /** Tries to move one version on, with the statements of one database. */
    @FunctionalInterface
    interface Move {

        /** Whether it was moved on, or is new. */
        boolean execute(Statements statements, VersionClaim claim) throws SQLException;
    }

    @Override
    public Map<MessageId, Optional<StoredVersion>> execute(
            Connection connection, List<VersionClaim> claims, int timeoutSeconds) throws SQLException {
        Map<MessageId, Optional<StoredVersion>> moved = new HashMap<>(claims.size() * 2);
        try (Statements statements = new Statements(connection, timeoutSeconds)) {
            for (VersionClaim claim : claims) {
                if (this.move.execute(statements, claim)) {
                    moved.put(
                            claim.entity(),
                            claim.asksForPrevious() ? previous(statements, claim.entity()) : Optional.empty());
                }
            }
        }
        return moved;
    }

    /** They are locked already; and it begins no snapshot, which all later reads of the transaction would be bound to. */
    @Override
    public String currentRead() {
        return " for update";
    }

    private Optional<StoredVersion> previous(Statements statements, MessageId entity) throws SQLException {
        PreparedStatement query = statements.prepare(this.previous);
        bindEntity(query, 1, entity);
        try (ResultSet row = query.executeQuery()) {
            boolean any = row.next() && row.getBigDecimal(2) != null;
            return any ? Optional.of(VersionColumns.read(entity, row, 1)) : Optional.empty();
        }
    }

    static void bindEntity(PreparedStatement statement, int first, MessageId entity) throws SQLException {
        statement.setString(first, entity.consumer());
        statement.setString(first + 1, entity.value());
    }

    /** Gives a statement the five values of a claim that are not its entity, in the order of the columns. */
    static void bindVersion(PreparedStatement statement, int first, VersionClaim claim) throws SQLException {
        statement.setString(first, nameOf(claim));
        statement.setBigDecimal(first + 1, claim.version().value());
        statement.setString(first + 2, claim.coordinates().topic());
        statement.setInt(first + 3, claim.coordinates().partition());
        statement.setLong(first + 4, claim.coordinates().offset());
    }

    /** The kind of a claim's version, as it is stored. */
    static String nameOf(VersionClaim claim) {
        return claim.version().kind().name().toLowerCase(Locale.ROOT);
    }

    /** Statements that are prepared once for all claims of a batch. */
    static final class Statements implements AutoCloseable {

        private final Connection connection;
        private final ClaimDeadline deadline;
        private final Map<String, PreparedStatement> prepared = new HashMap<>();

        /** Tells the claims of one call from all others. */
        private final long token = ThreadLocalRandom.current().nextLong();

        Statements(Connection connection, int timeoutSeconds) {
            this.connection = connection;
            this.deadline = new ClaimDeadline(timeoutSeconds);
        }

        PreparedStatement prepare(String sql) throws SQLException {
            PreparedStatement statement = this.prepared.get(sql);
            if (statement == null) {
                statement = this.connection.prepareStatement(sql);
                this.prepared.put(sql, statement);
            }
            this.deadline.limit(statement);
            return statement;
        }

        int secondsLeft() throws SQLException {
            return this.deadline.secondsLeft();
        }

        long token() {
            return this.token;
        }

        @Override
        public void close() throws SQLException {
            for (PreparedStatement statement : this.prepared.values()) {
                statement.close();
            }
        }
    }
}
