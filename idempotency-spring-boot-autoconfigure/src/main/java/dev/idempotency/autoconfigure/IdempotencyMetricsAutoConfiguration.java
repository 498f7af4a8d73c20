package dev.idempotency.autoconfigure;

import dev.idempotency.internal.database.RetentionMode;
import dev.idempotency.internal.database.Ring;
import dev.idempotency.internal.metrics.MeterEventListener;
import dev.idempotency.internal.metrics.MicrometerObservationListener;
import dev.idempotency.internal.metrics.StoreWatch;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.observation.ObservationRegistry;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnSingleCandidate;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** Auto-configuration for Micrometer: meters, and what a listener's observation, and so its span, says of a message. */
@AutoConfiguration(
        after = IdempotencyAutoConfiguration.class,
        afterName = {
            "org.springframework.boot.micrometer.metrics.autoconfigure.CompositeMeterRegistryAutoConfiguration",
            "org.springframework.boot.micrometer.observation.autoconfigure.ObservationAutoConfiguration"
        })
@ConditionalOnBean(StoreWatch.class)
public final class IdempotencyMetricsAutoConfiguration {

    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(MeterRegistry.class)
    @ConditionalOnSingleCandidate(MeterRegistry.class)
    static final class MeterConfiguration {

        @Bean
        @ConditionalOnMissingBean
        MeterEventListener idempotencyMeterEventListener(
                MeterRegistry registry, StoreWatch store, IdempotencyProperties properties) {
            int slots = (properties.retentionMode() == RetentionMode.RING) ? Ring.SLOTS : 0;
            return new MeterEventListener(registry, store, slots);
        }
    }

    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(ObservationRegistry.class)
    @ConditionalOnSingleCandidate(ObservationRegistry.class)
    static final class ObservationConfiguration {

        @Bean
        @ConditionalOnMissingBean
        MicrometerObservationListener idempotencyObservationListener(ObservationRegistry registry) {
            return new MicrometerObservationListener(registry);
        }
    }
}
