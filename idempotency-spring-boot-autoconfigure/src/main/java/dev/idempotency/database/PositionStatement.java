package dev.idempotency.database;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Moves the positions of a consumer forward, and says from where. */
public interface PositionStatement {

    /**
     * Moves each position to where its claim ends, if it is of the same topic and has not come that far; makes it, if it is
     * not there. Waits for other transactions that hold one of the positions, in an order that is the same for everyone.
     *
     * @param connection the connection of the current transaction
     * @param claims claims of one consumer, one for each partition, sorted by topic and partition; at least one
     * @param timeoutSeconds how long it may take, with all its statements, at least 1
     * @return the claims whose position was moved, with the offset before which their records have been processed already
     */
    Map<PositionClaim, Long> execute(Connection connection, List<PositionClaim> claims, int timeoutSeconds)
            throws SQLException;

    /**
     * Looks up whether a position has been moved to the end of a claim, or beyond, in the same topic. Locks nothing.
     *
     * <p>Some databases let the first look of a transaction decide what all that follow see: there the listener would not see
     * what was committed while a claim waited, so that nothing may be looked up before it.
     *
     * @param connection the connection of the current transaction
     * @param timeoutSeconds how long a statement may take, at least 1
     * @return the position; {@code null} if it has not come that far, or was not looked up, as by default
     */
    default @Nullable Long findPassed(Connection connection, PositionClaim claim, int timeoutSeconds)
            throws SQLException {
        return null;
    }
}
