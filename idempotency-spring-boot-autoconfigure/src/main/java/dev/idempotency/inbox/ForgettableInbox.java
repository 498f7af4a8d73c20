package dev.idempotency.inbox;

import dev.idempotency.store.Dialect;
import dev.idempotency.store.Tables;
import java.time.Duration;
import javax.sql.DataSource;

/**
 * The table of the inbox, as its cleanup sees it: each call is a small transaction of its own, on a connection of its
 * own, that waits for nobody.
 */
public final class ForgettableInbox {

    private final InboxDatabase database;

    public ForgettableInbox(DataSource dataSource, Dialect dialect, Tables tables) {
        this.database = new InboxDatabase(dataSource, dialect, tables);
    }

    /**
     * Deletes messages with a status that have not changed for so long, the oldest first.
     *
     * @param status what became of them
     * @param age for how long
     * @param limit how many at most
     * @return how many were deleted
     */
    public int forget(InboxStatus status, Duration age, int limit) {
        return this.database.callInNewTransaction(table -> table.deleteExpired(status, age, limit));
    }
}
