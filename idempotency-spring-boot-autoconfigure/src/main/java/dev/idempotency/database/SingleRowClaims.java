package dev.idempotency.database;

import dev.idempotency.Claim;
import dev.idempotency.MessageId;
import dev.idempotency.RecordCoordinates;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** Claims row by row with one prepared statement, for databases that cannot say which rows of many they inserted. */
final class SingleRowClaims implements ClaimStatement {

    /** Inserts the row that the statement's parameters describe. */
    interface Insertion {

        /** Whether the row was inserted, rather than being there already. */
        boolean insert(PreparedStatement statement) throws SQLException;
    }

    private final String sql;
    private final Insertion insertion;

    SingleRowClaims(String sql, Insertion insertion) {
        this.sql = sql;
        this.insertion = insertion;
    }

    @Override
    public Set<MessageId> execute(Connection connection, List<Claim> claims, int timeoutSeconds) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(this.sql)) {
            statement.setQueryTimeout(timeoutSeconds);
            if (claims.size() == 1) {
                MessageId id = bind(statement, claims.get(0));
                return this.insertion.insert(statement) ? Set.of(id) : Set.of();
            }
            Set<MessageId> claimed = new HashSet<>(claims.size() * 2);
            for (Claim claim : claims) {
                MessageId id = bind(statement, claim);
                if (this.insertion.insert(statement)) {
                    claimed.add(id);
                }
            }
            return claimed;
        }
    }

    /** Gives an insert the claim's five values, and returns its id. */
    static MessageId bind(PreparedStatement statement, Claim claim) throws SQLException {
        RecordCoordinates coordinates = claim.coordinates();
        statement.setString(1, claim.id().consumer());
        statement.setString(2, claim.id().value());
        statement.setString(3, coordinates.topic());
        statement.setInt(4, coordinates.partition());
        statement.setLong(5, coordinates.offset());
        return claim.id();
    }
}
