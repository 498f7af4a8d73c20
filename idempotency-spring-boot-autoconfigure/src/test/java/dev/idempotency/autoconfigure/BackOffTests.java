package dev.idempotency.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.IdempotentOperations;
import dev.idempotency.actuate.IdempotencyDeadLettersEndpoint;
import dev.idempotency.actuate.IdempotencyEndpoint;
import dev.idempotency.actuate.IdempotencyHealthIndicator;
import dev.idempotency.actuate.IdempotencyInboxEndpoint;
import dev.idempotency.actuate.IdempotencyReconciliationEndpoint;
import dev.idempotency.database.Dialect;
import dev.idempotency.failure.FailureClassifier;
import dev.idempotency.key.MessageKeyResolver;
import dev.idempotency.metrics.MeterObserver;
import dev.idempotency.metrics.ObservationObserver;
import dev.idempotency.reconciliation.Reconciliation;
import dev.idempotency.redrive.DeadLetters;
import dev.idempotency.result.ResultConverter;
import dev.idempotency.retention.Cleanup;
import dev.idempotency.retention.CleanupSchedule;
import dev.idempotency.store.ProcessedMessageStore;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.micrometer.observation.ObservationRegistry;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.mockito.Mockito;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

/** What users may define themselves, in place of ours. */
class BackOffTests {

    private final ApplicationContextRunner runner = new ApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(
                    DataSourceAutoConfiguration.class,
                    IdempotencyAutoConfiguration.class,
                    IdempotencyCheckAutoConfiguration.class,
                    IdempotencyEndpointAutoConfiguration.class,
                    IdempotencyHealthAutoConfiguration.class,
                    IdempotencyMetricsAutoConfiguration.class,
                    IdempotencyStoreAutoConfiguration.class))
            .withBean(MeterRegistry.class, SimpleMeterRegistry::new)
            .withBean(ObservationRegistry.class, ObservationRegistry::create)
            .withPropertyValues(
                    "spring.datasource.url=jdbc:h2:mem:back-off",
                    "spring.datasource.generate-unique-name=false",
                    "idempotency.schema.mode=none",
                    "management.endpoints.web.exposure.include=*");

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
                MeterObserver.class,
                ObservationObserver.class,
                ProcessedMessageStore.class,
                Reconciliation.class,
                ResultConverter.class
            })
    <T> void whenTheUserDefinesTheirOwnThenOursBacksOff(Class<T> type) {
        this.runner.run(context -> assertThat(context).hasSingleBean(type));
        this.runner
                .withBean("theirs", type, () -> Mockito.mock(type))
                .run(context ->
                        assertThat(context).hasNotFailed().getBeanNames(type).containsExactly("theirs"));
    }

    @Test
    void whenTheUserDefinesTheirOwnHealthIndicatorThenOursBacksOff() {
        this.runner.run(context -> assertThat(context).hasSingleBean(IdempotencyHealthIndicator.class));
        this.runner
                .withBean(
                        "idempotencyHealthIndicator", HealthIndicator.class, () -> Mockito.mock(HealthIndicator.class))
                .run(context -> assertThat(context).hasNotFailed().doesNotHaveBean(IdempotencyHealthIndicator.class));
    }
}
