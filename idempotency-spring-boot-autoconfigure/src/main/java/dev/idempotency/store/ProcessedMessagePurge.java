package dev.idempotency.store;

import dev.idempotency.database.Dialect;
import dev.idempotency.database.PurgeRequest;
import dev.idempotency.database.PurgeStatement;
import dev.idempotency.database.Purged;
import dev.idempotency.database.Tables;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import javax.sql.DataSource;
import org.springframework.jdbc.core.ConnectionCallback;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.TransactionDefinition;
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
            "select consumer_id from %s where consumer_id > ? order by consumer_id limit 1";

    private final JdbcTemplate jdbc;
    private final TransactionTemplate transaction;
    private final String nextConsumer;
    private final PurgeStatement expired;
    private final PurgeStatement abandoned;

    public ProcessedMessagePurge(DataSource dataSource, Dialect dialect, Tables tables) {
        String name = tables.processed(dialect);
        this.nextConsumer = NEXT_CONSUMER.formatted(name);
        this.expired = dialect.forgetExpiredIn(name);
        this.abandoned = dialect.forgetAbandonedIn(name);
        this.jdbc = new JdbcTemplate(dataSource);
        this.jdbc.setQueryTimeout(TIMEOUT_SECONDS);
        this.transaction = new TransactionTemplate(new JdbcTransactionManager(dataSource));
        this.transaction.setPropagationBehavior(TransactionDefinition.PROPAGATION_REQUIRES_NEW);
        // With more, MySQL and MariaDB would lock the gaps between rows, which claims want to insert into.
        this.transaction.setIsolationLevel(TransactionDefinition.ISOLATION_READ_COMMITTED);
    }

    /**
     * The consumers that have messages in the table, whether or not they are in this application.
     *
     * <p>Hops from one to the next through the index: as many look-ups as there are consumers, not rows.
     */
    public List<String> consumers() {
        return Objects.requireNonNull(this.transaction.execute(status -> hopThroughConsumers()));
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
     * Forgets messages that were processed more than {@code retention} before the consumer's last one.
     *
     * @param consumer the consumer
     * @param retention how much is remembered
     * @param from where to begin: {@link #BEGINNING}, or up to where the drain has come
     * @param limit how many at most
     */
    public Purged forgetExpired(String consumer, Duration retention, Instant from, int limit) {
        return execute(this.expired, new PurgeRequest(consumer, retention, from, limit));
    }

    /**
     * Forgets messages of a consumer that has processed none for {@code idle}, or nothing if it has.
     *
     * @param consumer the consumer
     * @param idle how long it must have been idle
     * @param from where to begin: {@link #BEGINNING}, or up to where the drain has come
     * @param limit how many at most
     */
    public Purged forgetAbandoned(String consumer, Duration idle, Instant from, int limit) {
        return execute(this.abandoned, new PurgeRequest(consumer, idle, from, limit));
    }

    private Purged execute(PurgeStatement statement, PurgeRequest request) {
        ConnectionCallback<Purged> forget = connection -> statement.execute(connection, request, TIMEOUT_SECONDS);
        return this.transaction.execute(status -> this.jdbc.execute(forget));
    }
}
