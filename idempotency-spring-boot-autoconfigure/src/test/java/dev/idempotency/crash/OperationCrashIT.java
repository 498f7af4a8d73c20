package dev.idempotency.crash;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.IdempotentConsumer;
import dev.idempotency.IdempotentOperations;
import dev.idempotency.MessageId;
import dev.idempotency.app.ChildJvm;
import dev.idempotency.app.Effects;
import dev.idempotency.app.TestApplication;
import dev.idempotency.testing.TestDatabase;
import dev.idempotency.testing.TestPostgres;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DriverManagerDataSource;

/** Two JVMs that do the same work at the same time, one of which is killed again and again. */
@Tag("slow")
class OperationCrashIT {

    private static final int ITEMS = 800;

    /** What one process does before it waits to be killed: all of them together must not come to the end. */
    private static final int ITEMS_BEFORE_KILL = 300;

    @Test
    void workOfTwoProcessesOneOfWhichIsKilledIsDoneOnceAndAnsweredAlike() throws Exception {
        try (TestDatabase database = TestPostgres.createDatabase()) {
            JdbcTemplate jdbc = new JdbcTemplate(new DriverManagerDataSource(database.jdbcUrl()));
            jdbc.execute("create table if not exists effect (name varchar(1000) not null)");
            for (int kill = 1; kill <= 2; kill++) {
                int before = done(jdbc);
                Process one = launch(database, "one");
                Process other = launch(database, "other");
                try {
                    Awaitility.await("work before kill " + kill)
                            .atMost(Duration.ofSeconds(120))
                            .pollInterval(Duration.ofMillis(5))
                            .until(() -> done(jdbc) > before + 50);
                } finally {
                    one.destroyForcibly().waitFor(30, TimeUnit.SECONDS);
                    other.destroyForcibly().waitFor(30, TimeUnit.SECONDS);
                }
            }
            assertThat(done(jdbc)).as("killed before all was done").isLessThan(ITEMS);
            try (TestApplication app = Application.start(database.jdbcUrl())) {
                Application.work(app, ITEMS);
                assertThat(app.bean(Effects.class).counts())
                        .hasSize(ITEMS)
                        .allSatisfy((name, count) -> assertThat(count).isOne());
                IdempotentOperations operations = app.bean(IdempotentOperations.class);
                for (int item = 0; item < ITEMS; item += 100) {
                    String name = "item-" + item;
                    assertThat(operations
                                    .execute(Application.id(item), String.class, () -> "again")
                                    .result())
                            .isEqualTo("did " + name);
                }
            }
        }
    }

    private static int done(JdbcTemplate jdbc) {
        return jdbc.queryForObject("select count(*) from effect", Integer.class);
    }

    private static Process launch(TestDatabase database, String name) throws Exception {
        return ChildJvm.start(Application.class, "operation-crash-" + name, database.jdbcUrl());
    }

    @Configuration(proxyBeanMethods = false)
    @Import(Effects.class)
    static class Application {

        public static void main(String[] arguments) {
            work(start(arguments[0]), ITEMS_BEFORE_KILL);
        }

        static TestApplication start(String jdbcUrl) {
            return TestApplication.start(
                    jdbcUrl, List.of("spring.kafka.bootstrap-servers=localhost:1"), Application.class);
        }

        static MessageId id(int item) {
            return new MessageId("import", "item-" + item);
        }

        /** Does all items, or waits for ever with the one after so many. */
        static void work(TestApplication app, int most) {
            AtomicInteger done = new AtomicInteger();
            IdempotentOperations operations = app.bean(IdempotentOperations.class);
            Effects effects = app.bean(Effects.class);
            for (int item = 0; item < ITEMS; item++) {
                String name = "item-" + item;
                operations.execute(id(item), String.class, () -> {
                    effects.happen(name);
                    if (done.incrementAndGet() > most) {
                        new CompletableFuture<>().join();
                    }
                    return "did " + name;
                });
            }
        }

        @Bean
        IdempotentConsumer imports() {
            return IdempotentConsumer.named("import");
        }
    }
}
