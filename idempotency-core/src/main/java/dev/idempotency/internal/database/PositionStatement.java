package dev.idempotency.internal.database;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.Map;

/** Moves the positions of a consumer forward, and says from where. */
@FunctionalInterface
public interface PositionStatement {

    /**
     * Moves each position to where its claim ends, if it is of the same topic and has not come that far; creates it if it does
     * not exist. Waits for other transactions that hold one of the positions, in an order that is the same for everyone.
     *
     * @param claims claims of one consumer, one for each partition, sorted by topic and partition; at least one
     * @param timeoutSeconds how long it may take, with all its statements, at least 1
     * @return the claims whose position was moved, with the offset before which their records have been processed already
     */
    Map<PositionClaim, Long> execute(Connection connection, List<PositionClaim> claims, int timeoutSeconds)
            throws SQLException;
}
