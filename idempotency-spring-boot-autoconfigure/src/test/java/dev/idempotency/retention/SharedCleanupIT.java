package dev.idempotency.retention;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.database.DialectResolver;
import dev.idempotency.database.IdempotencyDatabase;
import dev.idempotency.database.Schema;
import dev.idempotency.database.SchemaMode;
import dev.idempotency.observe.ConsumerDescription;
import dev.idempotency.observe.ConsumerRegistry;
import dev.idempotency.store.ProcessedMessagePurge;
import dev.idempotency.testing.TestDatabase;
import dev.idempotency.testing.TestPostgres;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Stream;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DriverManagerDataSource;

/** Several instances of an application clean up at once. */
class SharedCleanupIT {

    private static final int INSTANCES = 3;

    private final CyclicBarrier allAtWork = new CyclicBarrier(INSTANCES);

    @Test
    void instancesShareTheWorkAndDoNoneOfItTwice() {
        try (TestDatabase database = TestPostgres.createDatabase()) {
            DataSource dataSource = new DriverManagerDataSource(database.jdbcUrl());
            IdempotencyDatabase tables = new IdempotencyDatabase(dataSource, DialectResolver.resolve(dataSource), null);
            new Schema(tables, SchemaMode.MIGRATE).afterPropertiesSet();
            JdbcTemplate jdbc = new JdbcTemplate(dataSource);
            jdbc.update("""
                    insert into idempotency_processed
                        (consumer_id, message_id, processed_at, record_topic, record_partition, record_offset)
                    select 'consumer-' || n % 2, n::text, current_timestamp - (n % 10) * interval '2 days', 'topic', 0, n
                    from generate_series(1, 50000) as n
                    """);
            List<CompletableFuture<CleanupRun>> runs = Stream.generate(() -> instance(tables))
                    .limit(INSTANCES)
                    .map(cleanup -> CompletableFuture.supplyAsync(cleanup::run, task -> new Thread(task).start()))
                    .toList();
            assertThat(runs).map(CompletableFuture::join).allSatisfy(run -> {
                assertThat(run.failure()).isNull();
                assertThat(run.keepsUp()).isTrue();
                assertThat(run.deleted()).isPositive();
            });
            assertThat(runs.stream().mapToLong(run -> run.join().deleted()).sum())
                    .isEqualTo(30_000);
            assertThat(jdbc.queryForObject("select count(*) from idempotency_processed", Integer.class))
                    .isEqualTo(20_000);
        }
    }

    private Cleanup instance(IdempotencyDatabase tables) {
        ConsumerRegistry consumers = () -> Stream.of("consumer-0", "consumer-1")
                .map(consumer -> new ConsumerDescription(
                        consumer, "Orders.on", List.of("orders"), "group", "header", Duration.ofDays(7)))
                .toList();
        CleanupTask task =
                new ProcessedMessageCleanup(new ProcessedMessagePurge(tables), consumers, Duration.ofDays(30));
        return new Cleanup(List.of(new Together(task)), 500, 1_000_000, List.of());
    }

    /** Begins when all instances have come as far, and goes on when each has removed its first rows. */
    private final class Together implements CleanupTask {

        private final CleanupTask task;

        Together(CleanupTask task) {
            this.task = task;
        }

        @Override
        public String name() {
            return this.task.name();
        }

        @Override
        public List<Backlog> backlogs() {
            List<Backlog> backlogs = new ArrayList<>(this.task.backlogs());
            awaitAll();
            Backlog first = backlogs.get(0);
            AtomicBoolean begun = new AtomicBoolean();
            backlogs.set(0, limit -> {
                int removed = first.remove(limit);
                if (begun.compareAndSet(false, true)) {
                    awaitAll();
                }
                return removed;
            });
            return backlogs;
        }

        private void awaitAll() {
            try {
                SharedCleanupIT.this.allAtWork.await(60, TimeUnit.SECONDS);
            } catch (Exception ex) {
                throw new IllegalStateException(ex);
            }
        }
    }
}
