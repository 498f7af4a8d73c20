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

    private final String plain;
    private final String withDigest;
    private final PreparedStatementCallback<Boolean> insertion;
    private final String currentRead;

    /**
     * Claims in a table.
     *
     * @param sql the insert of five values, with room for the table's name, one more column and one more parameter
     * @param insertion executes the statement, and says whether a row was inserted, rather than being there already
     * @param currentRead see {@link #currentRead()}
     */
    SingleRowClaims(String sql, String table, PreparedStatementCallback<Boolean> insertion, String currentRead) {
        this.currentRead = currentRead;
        this.plain = sql.formatted(table, "", "");
        this.withDigest = sql.formatted(table, ", payload_digest", ", ?");
        this.insertion = insertion;
    }

    @Override
    public Set<MessageId> execute(Connection connection, List<Claim> claims, int timeoutSeconds) throws SQLException {
        boolean digests = haveDigests(claims);
        try (PreparedStatement statement = connection.prepareStatement(digests ? this.withDigest : this.plain)) {
            ClaimDeadline deadline = new ClaimDeadline(timeoutSeconds);
            Set<MessageId> claimed = new HashSet<>(claims.size() * 2);
            for (Claim claim : claims) {
                deadline.limit(statement);
                MessageId id = bind(statement, claim, digests);
                if (this.insertion.doInPreparedStatement(statement)) {
                    claimed.add(id);
                }
            }
            return claimed;
        }
    }

    @Override
    public String currentRead() {
        return this.currentRead;
    }

    /** Whether one of the claims has something to say of its payload: without, nobody needs the column. */
    static boolean haveDigests(List<Claim> claims) {
        for (Claim claim : claims) {
            if (claim.payloadDigest() != null) {
                return true;
            }
        }
        return false;
    }

    /** Gives an insert the claim's five values, or six with its digest, and returns its id. */
    static MessageId bind(PreparedStatement statement, Claim claim, boolean withDigest) throws SQLException {
        RecordCoordinates coordinates = claim.coordinates();
        statement.setString(1, claim.id().consumer());
        statement.setString(2, claim.id().value());
        statement.setString(3, coordinates.topic());
        statement.setInt(4, coordinates.partition());
        statement.setLong(5, coordinates.offset());
        if (withDigest) {
            statement.setObject(6, claim.payloadDigest(), Types.BIGINT);
        }
        return claim.id();
    }
}
