package dev.idempotency.autoconfigure;

import dev.idempotency.metrics.CleanupMeters;
import dev.idempotency.metrics.InboxMeters;
import dev.idempotency.metrics.MeterObserver;
import dev.idempotency.metrics.StoreWatch;
import io.micrometer.core.instrument.MeterRegistry;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.context.annotation.Bean;

/** Auto-configuration for Micrometer meters. */
@AutoConfiguration(
        after = IdempotencyObserveAutoConfiguration.class,
        afterName = "org.springframework.boot.micrometer.metrics.autoconfigure.CompositeMeterRegistryAutoConfiguration")
@ConditionalOnClass(MeterRegistry.class)
@ConditionalOnProperty(name = "idempotency.enabled", matchIfMissing = true)
@ConditionalOnBean({MeterRegistry.class, StoreWatch.class})
public final class IdempotencyMetricsAutoConfiguration {

    @Bean
    @ConditionalOnMissingBean
    MeterObserver idempotencyMeterObserver(MeterRegistry registry, StoreWatch store) {
        return new MeterObserver(registry, store);
    }

    @Bean
    @ConditionalOnMissingBean
    CleanupMeters idempotencyCleanupMeters(MeterRegistry registry) {
        return new CleanupMeters(registry);
    }

    @Bean
    @ConditionalOnMissingBean
    InboxMeters idempotencyInboxMeters(MeterRegistry registry) {
        return new InboxMeters(registry);
    }
}
