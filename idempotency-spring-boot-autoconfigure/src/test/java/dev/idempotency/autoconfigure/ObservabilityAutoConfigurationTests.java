package dev.idempotency.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.actuate.IdempotencyEndpoint;
import dev.idempotency.actuate.IdempotencyHealthIndicator;
import dev.idempotency.app.ForgetfulStore;
import dev.idempotency.metrics.MeterObserver;
import dev.idempotency.metrics.ObservationObserver;
import dev.idempotency.metrics.StoreWatch;
import dev.idempotency.retention.Cleanup;
import dev.idempotency.store.ProcessedMessageStore;
import dev.idempotency.store.StoreStatistics;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.micrometer.observation.ObservationRegistry;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

class ObservabilityAutoConfigurationTests {

    private final ApplicationContextRunner runner = new ApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(
                    IdempotencyAutoConfiguration.class,
                    IdempotencyEndpointAutoConfiguration.class,
                    IdempotencyHealthAutoConfiguration.class,
                    IdempotencyMetricsAutoConfiguration.class,
                    IdempotencyStoreAutoConfiguration.class))
            .withUserConfiguration(StoreOfTheUser.class)
            .withPropertyValues("management.endpoints.web.exposure.include=*", "spring.main.web-application-type=none");

    private final ApplicationContextRunner withRegistries = this.runner
            .withBean(MeterRegistry.class, SimpleMeterRegistry::new)
            .withBean(ObservationRegistry.class, ObservationRegistry::create);

    @Test
    void withoutRegistriesTheyAreGone() {
        this.runner.run(context -> assertThat(context)
                .hasNotFailed()
                .doesNotHaveBean(MeterObserver.class)
                .doesNotHaveBean(ObservationObserver.class));
    }

    @Test
    void withSeveralRegistriesOfWhichNoneIsPrimaryTheApplicationStartsWithoutMeters() {
        this.withRegistries
                .withBean("another", MeterRegistry.class, SimpleMeterRegistry::new)
                .withBean("yetAnother", ObservationRegistry.class, ObservationRegistry::create)
                .run(context -> assertThat(context)
                        .hasNotFailed()
                        .doesNotHaveBean(MeterObserver.class)
                        .doesNotHaveBean(ObservationObserver.class));
    }

    @Test
    void whenTheLibraryIsOffNothingIsObserved() {
        this.withRegistries.withPropertyValues("idempotency.enabled=false").run(context -> assertThat(context)
                .doesNotHaveBean(MeterObserver.class)
                .doesNotHaveBean(ObservationObserver.class)
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
        this.withRegistries.run(context -> {
            assertThat(context.getBean(StoreWatch.class).current()).isEqualTo(StoreStatistics.UNKNOWN);
            assertThat(context.getBean(MeterRegistry.class)
                            .get("idempotency.store.rows")
                            .gauge()
                            .value())
                    .isNaN();
            Health health = context.getBean(IdempotencyHealthIndicator.class).health();
            assertThat(health.getStatus().getCode()).isEqualTo("UP");
            assertThat(health.getDetails()).containsEntry("schema", "not ours");
        });
    }

    @Configuration(proxyBeanMethods = false)
    static class StoreOfTheUser {

        @Bean
        ProcessedMessageStore storeOfTheUser() {
            return new ForgetfulStore();
        }
    }
}
