package dev.idempotency.internal.store;

import com.zaxxer.hikari.HikariDataSource;
import dev.idempotency.Claim;
import dev.idempotency.MessageId;
import dev.idempotency.RecordCoordinates;
import dev.idempotency.internal.database.DialectResolver;
import dev.idempotency.internal.database.IdempotencyDatabase;
import dev.idempotency.internal.database.RetentionMode;
import dev.idempotency.internal.database.Schema;
import dev.idempotency.internal.database.SchemaMode;
import dev.idempotency.store.ProcessedMessageStore;
import dev.idempotency.testing.TestDatabase;
import dev.idempotency.testing.TestPostgres;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import org.awaitility.Awaitility;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

/** A PostgreSQL database for instances of an application, each of which uses it as a ring or as one table. */
public final class RingServer implements AutoCloseable {

    static final Duration WIDTH = Duration.ofHours(42);
    public static final RecordCoordinates SOMEWHERE = new RecordCoordinates("topic", 3, 42);

    private static final AtomicLong NUMBERS = new AtomicLong();

    final TestDatabase server = TestPostgres.createDatabase();
    final HikariDataSource dataSource = new HikariDataSource();
    public final JdbcTemplate jdbc = new JdbcTemplate(this.dataSource);
    public final TransactionTemplate transaction = new TransactionTemplate(new JdbcTransactionManager(this.dataSource));

    public RingServer() {
        this.dataSource.setJdbcUrl(this.server.jdbcUrl());
        this.dataSource.setMaximumPoolSize(20);
    }

    /** An instance that has just started. */
    public JdbcProcessedMessageStore start(RetentionMode mode) {
        IdempotencyDatabase database =
                new IdempotencyDatabase(this.dataSource, DialectResolver.resolve(this.dataSource), null, mode);
        new Schema(database, SchemaMode.MIGRATE).ringWidth(WIDTH, false).afterPropertiesSet();
        return new JdbcProcessedMessageStore(database, Duration.ofSeconds(30));
    }

    /** Claims ids in a transaction, and returns the new ones. */
    public Set<MessageId> claim(ProcessedMessageStore store, String consumer, String... ids) {
        return this.transaction.execute(status -> store.claim(claims(consumer, ids)));
    }

    public static List<Claim> claims(String consumer, String... ids) {
        return Arrays.stream(ids)
                .map(id -> new Claim(new MessageId(consumer, id), SOMEWHERE))
                .toList();
    }

    /** Returns a new UUID of version 7 with this time. */
    public static String id(Instant time) {
        String millis = "%012x".formatted(time.toEpochMilli());
        return "%s-%s-7000-8000-%012x"
                .formatted(millis.substring(0, 8), millis.substring(8), NUMBERS.incrementAndGet());
    }

    /** Waits until a transaction is blocked by another one. */
    void awaitWaiting() {
        Awaitility.await()
                .until(() ->
                        count("pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'") > 0);
    }

    public int count(String table) {
        return this.jdbc.queryForObject("select count(*) from " + table, Integer.class);
    }

    @Override
    public void close() {
        this.dataSource.close();
        this.server.close();
    }
}
