package dev.idempotency.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.IdempotentOperations;
import dev.idempotency.actuate.IdempotencyDeadLettersEndpoint;
import dev.idempotency.actuate.IdempotencyEndpoint;
import dev.idempotency.actuate.IdempotencyHealthIndicator;
import dev.idempotency.actuate.IdempotencyInboxEndpoint;
import dev.idempotency.actuate.IdempotencyReconciliationEndpoint;
import dev.idempotency.app.ForgetfulStore;
import dev.idempotency.failure.FailureClassifier;
import dev.idempotency.internal.database.Dialect;
import dev.idempotency.internal.metrics.MeterEventListener;
import dev.idempotency.internal.metrics.MicrometerObservationListener;
import dev.idempotency.internal.metrics.StoreWatch;
import dev.idempotency.internal.retention.CleanupSchedule;
import dev.idempotency.key.MessageKeyResolver;
import dev.idempotency.reconciliation.Reconciliation;
import dev.idempotency.redrive.DeadLetters;
import dev.idempotency.result.ResultConverter;
import dev.idempotency.retention.Cleanup;
import dev.idempotency.store.ProcessedMessageStore;
import dev.idempotency.store.StoreStatistics;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.micrometer.observation.ObservationRegistry;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.mockito.Mockito;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

/** The auto-configured beans, and how they back off for beans of the application. */
class AutoConfigurationTests {

    private final ApplicationContextRunner runner = new ApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(
                    DataSourceAutoConfiguration.class,
                    IdempotencyAutoConfiguration.class,
                    IdempotencyCheckAutoConfiguration.class,
                    IdempotencyEndpointAutoConfiguration.class,
                    IdempotencyHealthAutoConfiguration.class,
                    IdempotencyListenerAutoConfiguration.class,
                    IdempotencyMetricsAutoConfiguration.class,
                    IdempotencyOperatorsAutoConfiguration.class,
                    IdempotencyStoreAutoConfiguration.class))
            .withPropertyValues(
                    "spring.datasource.url=jdbc:h2:mem:back-off",
                    "spring.datasource.generate-unique-name=false",
                    "idempotency.schema.mode=none",
                    "management.endpoints.web.exposure.include=*");

    private final ApplicationContextRunner withRegistries = this.runner
            .withBean(MeterRegistry.class, SimpleMeterRegistry::new)
            .withBean(ObservationRegistry.class, ObservationRegistry::create);

    @ParameterizedTest
    @ValueSource(
            classes = {
                Cleanup.class,
                CleanupSchedule.class,
                DeadLetters.class,
                Dialect.class,
                FailureClassifier.class,
                IdempotencyDeadLettersEndpoint.class,
                IdempotencyEndpoint.class,
                IdempotencyInboxEndpoint.class,
                IdempotencyReconciliationEndpoint.class,
                IdempotentOperations.class,
                MessageKeyResolver.class,
                MeterEventListener.class,
                MicrometerObservationListener.class,
                ProcessedMessageStore.class,
                Reconciliation.class,
                ResultConverter.class
            })
    <T> void whenTheUserDefinesTheirOwnThenOursBacksOff(Class<T> type) {
        this.withRegistries.run(context -> assertThat(context).hasSingleBean(type));
        this.withRegistries
                .withBean("theirs", type, () -> Mockito.mock(type))
                .run(context ->
                        assertThat(context).hasNotFailed().getBeanNames(type).containsExactly("theirs"));
    }

    @Test
    void whenTheUserDefinesTheirOwnHealthIndicatorThenOursBacksOff() {
        this.withRegistries.run(context -> assertThat(context).hasSingleBean(IdempotencyHealthIndicator.class));
        this.withRegistries
                .withBean(
                        "idempotencyHealthIndicator", HealthIndicator.class, () -> Mockito.mock(HealthIndicator.class))
                .run(context -> assertThat(context).hasNotFailed().doesNotHaveBean(IdempotencyHealthIndicator.class));
    }

    @Test
    void withSeveralRegistriesOfWhichNoneIsPrimaryTheApplicationStartsWithoutMeters() {
        this.withRegistries
                .withBean("another", MeterRegistry.class, SimpleMeterRegistry::new)
                .withBean("yetAnother", ObservationRegistry.class, ObservationRegistry::create)
                .run(context -> assertThat(context)
                        .hasNotFailed()
                        .doesNotHaveBean(MeterEventListener.class)
                        .doesNotHaveBean(MicrometerObservationListener.class));
    }

    @Test
    void whenTheLibraryIsOffNothingIsObserved() {
        this.withRegistries.withPropertyValues("idempotency.enabled=false").run(context -> assertThat(context)
                .doesNotHaveBean(MeterEventListener.class)
                .doesNotHaveBean(MicrometerObservationListener.class)
                .doesNotHaveBean(IdempotencyEndpoint.class)
                .doesNotHaveBean(IdempotencyHealthIndicator.class)
                .doesNotHaveBean(StoreWatch.class)
                .doesNotHaveBean(Cleanup.class));
    }

    @Test
    void healthCanBeSwitchedOff() {
        this.runner
                .withPropertyValues("management.health.idempotency.enabled=false")
                .run(context -> assertThat(context).doesNotHaveBean(IdempotencyHealthIndicator.class));
    }

    @Test
    void aStoreOfTheUsersThatSaysNothingOfItsSizeIsUnknownAndHealthy() {
        this.withRegistries
                .withBean(ProcessedMessageStore.class, ForgetfulStore::new)
                .run(context -> {
                    assertThat(context.getBean(StoreWatch.class).current()).isEqualTo(StoreStatistics.UNKNOWN);
                    assertThat(context.getBean(MeterRegistry.class)
                                    .get("idempotency.store.rows")
                                    .gauge()
                                    .value())
                            .isNaN();
                    Health health =
                            context.getBean(IdempotencyHealthIndicator.class).health();
                    assertThat(health.getStatus().getCode()).isEqualTo("UP");
                    assertThat(health.getDetails()).containsEntry("schema", "not ours");
                });
    }

    @Test
    void whenItIsTurnedOffThenNothingIsScheduledButItCanBeRunByHand() {
        this.runner
                .withPropertyValues("idempotency.cleanup.enabled=false", "idempotency.schema.mode=migrate")
                .run(context -> {
                    assertThat(context).doesNotHaveBean(CleanupSchedule.class);
                    assertThat(context.getBean(Cleanup.class).run().keepsUp()).isTrue();
                });
    }

    @Test
    void whenTheStoreIsTheUsersOwnThenItsCleanupIsToo() {
        this.runner
                .withBean(ProcessedMessageStore.class, ForgetfulStore::new)
                .run(context -> assertThat(context).hasNotFailed().doesNotHaveBean(Cleanup.class));
    }
}
