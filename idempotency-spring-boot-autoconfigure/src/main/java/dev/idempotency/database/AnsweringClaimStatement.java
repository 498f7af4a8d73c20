package dev.idempotency.database;

import dev.idempotency.Claim;
import dev.idempotency.MessageId;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.List;
import java.util.Set;

/** Inserts the claims that are free, says which ones they were, and reads the messages that hold the others. */
@FunctionalInterface
public interface AnsweringClaimStatement {

    /** Reads a message that has been processed. */
    interface OriginalReader {

        /**
         * Reads the current row.
         *
         * @param row message id, topic, partition, offset, the time at which it was processed and the present, both in
         *     {@link Dialect#secondsOf seconds}, and the digest of its payload or {@code null}
         */
        void read(ResultSet row) throws SQLException;
    }

    /**
     * Waits as {@link ClaimStatement} does.
     *
     * @param connection the connection of the current transaction
     * @param claims claims of one consumer with distinct ids, sorted by id; at least one
     * @param timeoutSeconds how long a statement may take, at least 1
     * @param originals reads the messages that were there; not those that came while it waited
     * @return the ids that were free: those whose rows this statement has inserted, and no others
     */
    Set<MessageId> execute(Connection connection, List<Claim> claims, int timeoutSeconds, OriginalReader originals)
            throws SQLException;
}
