package dev.idempotency.database;

import dev.idempotency.MessageId;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Moves the versions of entities on, where the new one is greater, and says what they were before. */
public interface VersionStatement {

    /**
     * Waits for other transactions that are about to move one of the versions, in an order that is the same for everyone.
     * What is decided is decided against a row that no one else can change before the end of the transaction.
     *
     * @param connection the connection of the current transaction
     * @param claims claims of one consumer with distinct entities, sorted by these; at least one
     * @param timeoutSeconds how long it may take, with all its statements, at least 1
     * @return the entities that were moved on, or are new, with what they had before where the claim asks for that. An
     *     entity that is not among them has a version that is not older, or does not compare
     */
    Map<MessageId, Optional<StoredVersion>> execute(
            Connection connection, List<VersionClaim> claims, int timeoutSeconds) throws SQLException;

    /**
     * Looks up what an entity has, before anything is claimed. Locks nothing.
     *
     * @param connection the connection of the current transaction
     * @param timeoutSeconds how long a statement may take, at least 1
     * @return {@code null} if it has nothing, or if a look would decide what the transaction sees from then on, as by default
     */
    default @Nullable StoredVersion findFirst(Connection connection, MessageId entity, int timeoutSeconds)
            throws SQLException {
        return null;
    }

    /**
     * The end of a query that sees the rows which {@link #execute} has looked at as they are, where the database would
     * otherwise show them as they were when the transaction first read something.
     *
     * @return by default, nothing: a row that the transaction does not see is one that it may not change
     */
    default String currentRead() {
        return "";
    }
}
