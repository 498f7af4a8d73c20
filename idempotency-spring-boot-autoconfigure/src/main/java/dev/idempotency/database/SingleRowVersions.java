package dev.idempotency.database;

import dev.idempotency.MessageId;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ThreadLocalRandom;
import org.springframework.jdbc.core.PreparedStatementCallback;

/**
 * Replaces versions row by row, for databases that cannot say what rows were before an update. A token in the row tells
 * whether it was replaced: the row count does not, as MySQL and MariaDB may count a row that was left as it is like a new one.
 */
final class SingleRowVersions implements VersionStatement {

    private static final String FIND = "select claim_token, %s from %s where consumer_id = ? and message_id = ?%s";

    private final String move;
    private final PreparedStatementCallback<Boolean> execution;
    private final String find;

    /**
     * Replaces versions in a table.
     *
     * @param move the statement, with parameters for the entity (2), the version (2), the coordinates (3) and the token
     * @param execution executes it
     */
    SingleRowVersions(String move, String table, PreparedStatementCallback<Boolean> execution, Dialect dialect) {
        this.move = move;
        this.execution = execution;
        this.find = FIND.formatted(
                StoredVersion.previousColumns(dialect::secondsOf, dialect.now()), table, dialect.currentRead());
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
}
