package dev.idempotency.database;

import dev.idempotency.Claim;
import dev.idempotency.MessageId;
import dev.idempotency.RecordCoordinates;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Types;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.springframework.jdbc.core.PreparedStatementCallback;

/** Claims row by row with one prepared statement, for databases that cannot say which rows of many they inserted. */
final class SingleRowClaims implements ClaimStatement {

    private final String sql;
    private final PreparedStatementCallback<Boolean> insertion;

    /**
     * Claims in a table.
     *
     * @param sql the insert of six values, with room for the table's name
     * @param insertion executes the statement, and says whether a row was inserted, rather than being there already
     */
    SingleRowClaims(String sql, String table, PreparedStatementCallback<Boolean> insertion) {
        this.sql = sql.formatted(table);
        this.insertion = insertion;
    }

    @Override
    public Set<MessageId> execute(Connection connection, List<Claim> claims, int timeoutSeconds) throws SQLException {
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
}
