package dev.idempotency.internal.database;

import dev.idempotency.Claim;
import dev.idempotency.MessageId;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.List;
import java.util.Set;

/**
 * Claims one message and commits the transaction, in one round trip: PostgreSQL skips the commit if the insert fails. Its
 * driver then knows that no transaction is open, and a commit by the connection does not go to the server.
 */
public final class PostgresClaimWithCommit implements ClaimStatement {

    private static final String STATEMENT = """
            insert into %s (
                consumer_id, message_id, record_topic, record_partition, record_offset, payload_digest
            )
            values (?, ?, ?, ?, ?, ?);
            commit
            """;

    private final String statement;

    /** {@code table} is the table of processed messages. */
    public PostgresClaimWithCommit(String table) {
        this.statement = STATEMENT.formatted(table);
    }

    @Override
    public Set<MessageId> execute(Connection connection, List<Claim> claims, int timeoutSeconds) throws SQLException {
        Claim claim = claims.get(0);
        try (PreparedStatement prepared = connection.prepareStatement(this.statement)) {
            SingleRowStatements.bind(prepared, claim);
            StatementTimer.limit(prepared, timeoutSeconds, prepared::executeUpdate);
            return Set.of(claim.id());
        }
    }
}
