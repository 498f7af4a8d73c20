package dev.idempotency.inbox;

import dev.idempotency.database.Dialect;
import dev.idempotency.database.Purged;
import dev.idempotency.database.Tables;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.List;
import javax.sql.DataSource;

/**
 * The table of the inbox, as its cleanup sees it: each call is a small transaction of its own, on a connection of its
 * own, that waits for nobody.
 */
public final class InboxPurge {

    private final InboxDatabase database;

    public InboxPurge(DataSource dataSource, Dialect dialect, Tables tables) {
        this.database = new InboxDatabase(dataSource, dialect, tables);
    }

    /**
     * Deletes messages of some consumers with a status that have not changed for so long, the oldest first.
     *
     * @param consumers whose they are
     * @param status what became of them
     * @param age for how long
     * @param from where to begin: what changed before is passed over
     * @param limit how many at most
     * @return how many were deleted, and up to when there are no more
     */
    public Purged forget(Collection<String> consumers, InboxStatus status, Duration age, Instant from, int limit) {
        return this.database.removeInNewTransaction(
                removal -> removal.deleteExpired(consumers, status, age, from, limit));
    }

    /** The consumers that have messages in the table, whether or not they are in this application. */
    public List<String> consumers() {
        return this.database.removeInNewTransaction(InboxRemoval::consumers);
    }

    /** Whether a consumer has processed nothing, and its messages here have not changed, for so long. */
    public boolean isAbandoned(String consumer, Duration idle) {
        return this.database.removeInNewTransaction(removal -> removal.isAbandoned(consumer, idle));
    }

    /**
     * Deletes messages of a consumer that have not changed for so long, in the order of their ids.
     *
     * @param consumer whose they are
     * @param idle for how long
     * @param after the id after which to go on, or an empty text to begin
     * @param limit how many at most
     * @return the ids that were deleted
     */
    public List<String> forgetUnchanged(String consumer, Duration idle, String after, int limit) {
        return this.database.removeInNewTransaction(removal -> removal.deleteUnchanged(consumer, idle, after, limit));
    }
}
