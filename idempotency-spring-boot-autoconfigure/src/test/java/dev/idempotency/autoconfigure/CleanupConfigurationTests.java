package dev.idempotency.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.idempotency.retention.Cleanup;
import dev.idempotency.retention.CleanupObserver;
import dev.idempotency.retention.CleanupRun;
import dev.idempotency.retention.CleanupSchedule;
import dev.idempotency.retention.CleanupTask;
import dev.idempotency.store.ProcessedMessageStore;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.mockito.Mockito;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

class CleanupConfigurationTests {

    private final ApplicationContextRunner runner = new ApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(
                    DataSourceAutoConfiguration.class,
                    IdempotencyStoreAutoConfiguration.class,
                    IdempotencyAutoConfiguration.class))
            .withPropertyValues(
                    "spring.datasource.url=jdbc:h2:mem:cleanup",
                    "spring.datasource.generate-unique-name=false",
                    "idempotency.schema.mode=none");

    @Test
    void theCleanupIsScheduledByDefault() {
        this.runner.run(context -> {
            assertThat(context).hasSingleBean(Cleanup.class);
            assertThat(context.getBean(CleanupSchedule.class).isRunning()).isTrue();
            CleanupProperties properties = context.getBean(CleanupProperties.class);
            assertThat(properties.interval().duration()).isEqualTo(Duration.ofMinutes(1));
            assertThat(properties.orphansAfter().duration()).isEqualTo(Duration.ofDays(30));
        });
    }

    @Test
    void whenItIsTurnedOffThenNothingIsScheduledButItCanBeRunByHand() {
        this.runner
                .withPropertyValues("idempotency.cleanup.interval=-", "idempotency.schema.mode=migrate")
                .run(context -> {
                    assertThat(context).doesNotHaveBean(CleanupSchedule.class);
                    assertThat(context.getBean(Cleanup.class).run().keepsUp()).isTrue();
                });
    }

    @Test
    void whenTheStoreIsTheUsersOwnThenItsCleanupIsToo() {
        this.runner
                .withBean(ProcessedMessageStore.class, () -> Mockito.mock(ProcessedMessageStore.class))
                .run(context -> assertThat(context).hasNotFailed().doesNotHaveBean(Cleanup.class));
    }

    @Test
    void tasksAndObserversAreBeans() {
        AtomicReference<CleanupRun> heard = new AtomicReference<>();
        this.runner
                .withBean(CleanupTask.class, OneRow::new)
                .withBean(CleanupObserver.class, () -> heard::set)
                .withPropertyValues("idempotency.cleanup.interval=10ms", "idempotency.schema.mode=migrate")
                .run(context -> {
                    await().atMost(Duration.ofSeconds(30)).until(() -> heard.get() != null);
                    CleanupRun run = context.getBean(Cleanup.class).status().lastRun();
                    assertThat(run.deletedByTask())
                            .containsOnly(
                                    Map.entry("processed", 0L),
                                    Map.entry("versions", 0L),
                                    Map.entry("inbox", 0L),
                                    Map.entry("results", 0L),
                                    Map.entry("one-row", 1L));
                    assertThat(heard.get().deleted()).isOne();
                });
    }

    @Test
    void orphansCanBeKeptForEver() {
        this.runner.withPropertyValues("idempotency.cleanup.orphans-after=-").run(context -> assertThat(
                        context.getBean(CleanupProperties.class).orphansAfter().duration())
                .isNull());
    }

    private static final class OneRow implements CleanupTask {

        @Override
        public String name() {
            return "one-row";
        }

        @Override
        public List<Backlog> backlogs() {
            return List.of(limit -> 1);
        }
    }
}
