package dev.idempotency.store;

import dev.idempotency.database.IdempotencyDatabase;
import dev.idempotency.database.PurgeRequest;
import dev.idempotency.database.PurgeStatement;
import dev.idempotency.database.Purged;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.springframework.jdbc.core.ConnectionCallback;
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

    private static final String NEXT_CONSUMER =
            "select consumer_id from %s where consumer_id > ? order by consumer_id %s";

    private final JdbcTemplate jdbc;
    private final TransactionTemplate transaction;
    private final String nextConsumer;
    private final PurgeStatement expired;
    private final PurgeStatement abandoned;

    public ProcessedMessagePurge(IdempotencyDatabase database) {
        String table = database.processedTable();
        this.nextConsumer = NEXT_CONSUMER.formatted(table, database.dialect().rows(0, 1));
        this.expired = database.dialect().purgeExpiredIn(table);
        this.abandoned = database.dialect().purgeAbandonedIn(table);
        this.jdbc = database.jdbc(TIMEOUT_SECONDS);
        this.transaction = database.newTransaction();
    }

    /**
     * The consumers that have messages in the table, whether or not they are in this application.
     *
     * <p>Hops from one to the next through the index: as many look-ups as there are consumers, not rows.
     */
    public List<String> consumers() {
        return this.transaction.execute(status -> hopThroughConsumers());
    }

    private List<String> hopThroughConsumers() {
        List<String> consumers = new ArrayList<>();
        List<String> next = this.jdbc.queryForList(this.nextConsumer, String.class, "");
        while (!next.isEmpty()) {
            String consumer = next.get(0);
            consumers.add(consumer);
            next = this.jdbc.queryForList(this.nextConsumer, String.class, consumer);
        }
        return consumers;
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
        return execute(this.expired, new PurgeRequest(consumer, retention, from, limit));
    }

    /**
     * Deletes messages of a consumer that has processed none for {@code idle}, or nothing if it has.
     *
     * @param consumer the consumer
     * @param idle how long it must have been idle
     * @param from where to begin: {@link #BEGINNING}, or up to where the drain has come
     * @param limit how many at most
     */
    public Purged purgeAbandoned(String consumer, Duration idle, Instant from, int limit) {
        return execute(this.abandoned, new PurgeRequest(consumer, idle, from, limit));
    }

    private Purged execute(PurgeStatement statement, PurgeRequest request) {
        ConnectionCallback<Purged> purge = connection -> statement.execute(connection, request, TIMEOUT_SECONDS);
        return this.transaction.execute(status -> this.jdbc.execute(purge));
    }
}
