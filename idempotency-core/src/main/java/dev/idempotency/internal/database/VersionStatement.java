package dev.idempotency.internal.database;

import dev.idempotency.MessageId;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Replaces the versions of entities by newer ones, and says what they were before. */
@FunctionalInterface
public interface VersionStatement {

    /**
     * Waits for other transactions that are about to change one of the versions, in an order that is the same for everyone.
     * Compares with a row that no other transaction can change before the end of this one.
     *
     * @param claims claims of one consumer with distinct entities, sorted by these; at least one
     * @param timeoutSeconds how long it may take, with all its statements, at least 1
     * @return the entities that have the claimed version now, with the one that they had before. An entity that is not among
     *     them has a version that is not older, or does not compare
     */
    Map<MessageId, Optional<StoredVersion>> execute(
            Connection connection, List<VersionClaim> claims, int timeoutSeconds) throws SQLException;
}
