package dev.idempotency.store;

import dev.idempotency.database.IdempotencyDatabase;
import dev.idempotency.database.PurgeStatement;
import dev.idempotency.database.PurgeStatement.Purged;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.support.TransactionTemplate;

/**
 * The table of processed messages, as its cleanup sees it: each call is a small transaction of its own, on a connection
 * of its own, that waits for nobody.
 */
public final class ProcessedMessagePurge {

    /** Where a drain begins: there is no older row. */
    public static final Instant BEGINNING = Instant.EPOCH;

    private static final int TIMEOUT_SECONDS = 30;

    private final IdempotencyDatabase database;
    private final String table;
    private final JdbcTemplate jdbc;
    private final TransactionTemplate transaction;
    private final PurgeStatement expired;
    private final PurgeStatement abandoned;

    public ProcessedMessagePurge(IdempotencyDatabase database) {
        this(database, database.processedTable(), database.processedTable());
    }

    /** {@code activity} is the table whose rows tell when a consumer was active. */
    private ProcessedMessagePurge(IdempotencyDatabase database, String table, String activity) {
        this.database = database;
        this.table = table;
        this.expired = database.dialect().purgeExpiredIn(table, activity);
        this.abandoned = database.dialect().purgeAbandonedIn(table, activity);
        this.jdbc = database.jdbc(TIMEOUT_SECONDS);
        this.transaction = database.newTransaction();
    }

    /** The same for the table of results, whose rows are forgotten alike, by when their consumer was active. */
    public static ProcessedMessagePurge ofResults(IdempotencyDatabase database) {
        return new ProcessedMessagePurge(database, database.resultTable(), database.processedTable());
    }

    /**
     * The same for the table of versions, whose rows are forgotten alike, counted from an entity's last change. They alone
     * tell when the consumer was active: in the table of processed messages it has no rows, or those of another strategy
     * that it had before.
     */
    public static ProcessedMessagePurge ofVersions(IdempotencyDatabase database) {
        return new ProcessedMessagePurge(database, database.versionTable(), database.versionTable());
    }

    /** The consumers that have messages in the table, whether or not they are in this application. */
    public List<String> consumers() {
        return this.transaction.execute(status -> this.database.consumersIn(this.table, this.jdbc));
    }

    /**
     * Deletes messages that were processed more than {@code retention} before the consumer's last one.
     *
     * @param consumer the consumer
     * @param retention how much is remembered
     * @param from where to begin: {@link #BEGINNING}, or up to where the drain has come
     * @param limit how many at most
     */
    public Purged purgeExpired(String consumer, Duration retention, Instant from, int limit) {
        return execute(this.expired, new PurgeStatement.Request(consumer, retention, from, limit));
    }

    /** Likewise, messages of a consumer that has processed none for {@code idle}, or nothing if it has. */
    public Purged purgeAbandoned(String consumer, Duration idle, Instant from, int limit) {
        return execute(this.abandoned, new PurgeStatement.Request(consumer, idle, from, limit));
    }

    private Purged execute(PurgeStatement statement, PurgeStatement.Request request) {
        return this.transaction.execute(status -> statement.execute(this.jdbc, request));
    }
}
