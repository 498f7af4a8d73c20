package dev.idempotency.internal.database;

import dev.idempotency.Claim;
import dev.idempotency.MessageId;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.Set;

/** Inserts the claims that are free, and says which ones they were. */
@FunctionalInterface
public interface ClaimStatement {

    /**
     * Waits for other transactions that hold one of the claims, in an order that is the same for everyone.
     *
     * @param claims claims of one consumer with distinct ids, sorted by id; at least one
     * @param timeoutSeconds how long it may take, with all its statements, at least 1
     * @return the ids that were free: those whose rows were inserted, and no others
     */
    Set<MessageId> execute(Connection connection, List<Claim> claims, int timeoutSeconds) throws SQLException;
}
