package dev.idempotency.retention;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.Strategy;
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
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DriverManagerDataSource;

/** Several instances of an application clean up at once. */
class SharedCleanupIT {

    private static final int INSTANCES = 3;

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
            });
            assertThat(runs.stream().mapToLong(run -> run.join().deleted()).sum())
                    .isEqualTo(30_000);
            assertThat(jdbc.queryForObject("select count(*) from idempotency_processed", Integer.class))
                    .isEqualTo(20_000);
        }
    }

    private static Cleanup instance(IdempotencyDatabase tables) {
        ConsumerRegistry consumers = () -> Stream.of("consumer-0", "consumer-1")
                .map(consumer -> new ConsumerDescription(
                        consumer,
                        "Orders.on",
                        List.of("orders"),
                        "group",
                        "header",
                        Duration.ofDays(7),
                        Strategy.MESSAGE_ID))
                .toList();
        CleanupTask task =
                new ProcessedMessageCleanup(new ProcessedMessagePurge(tables), consumers, Duration.ofDays(30));
        return new Cleanup(List.of(task), 500, 1_000_000, List.of());
    }
}
