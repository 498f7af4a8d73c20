package dev.idempotency.autoconfigure;

import dev.idempotency.definition.ListenerDefinitionRegistry;
import dev.idempotency.metrics.ObservationObserver;
import io.micrometer.observation.ObservationRegistry;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.context.annotation.Bean;

/** Auto-configuration for what the listener's observation, and so its span, says of a message. */
@AutoConfiguration(
        after = IdempotencyAutoConfiguration.class,
        afterName = "org.springframework.boot.micrometer.observation.autoconfigure.ObservationAutoConfiguration")
@ConditionalOnClass(ObservationRegistry.class)
@ConditionalOnProperty(name = "idempotency.enabled", matchIfMissing = true)
@ConditionalOnBean({ObservationRegistry.class, ListenerDefinitionRegistry.class})
public final class IdempotencyObservationAutoConfiguration {

    @Bean
    @ConditionalOnMissingBean
    ObservationObserver idempotencyObservationObserver(ObservationRegistry registry) {
        return new ObservationObserver(registry);
    }
}
