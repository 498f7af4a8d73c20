package dev.idempotency.autoconfigure;

import dev.idempotency.actuate.ConsumerReports;
import dev.idempotency.actuate.IdempotencyEndpoint;
import dev.idempotency.actuate.KnownParameters;
import dev.idempotency.definition.ListenerDefinitionRegistry;
import dev.idempotency.metrics.ConsumerTallyRegistry;
import dev.idempotency.metrics.StoreWatch;
import dev.idempotency.retention.LastCleanup;
import dev.idempotency.store.ProcessedMessageStore;
import org.springframework.boot.actuate.autoconfigure.endpoint.condition.ConditionalOnAvailableEndpoint;
import org.springframework.boot.actuate.endpoint.annotation.Endpoint;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.context.annotation.Bean;

/** Auto-configuration for the Actuator endpoint {@code idempotency}. */
@AutoConfiguration(after = IdempotencyObserveAutoConfiguration.class)
@ConditionalOnClass({Endpoint.class, ConditionalOnAvailableEndpoint.class})
@ConditionalOnProperty(name = "idempotency.enabled", matchIfMissing = true)
@ConditionalOnBean(StoreWatch.class)
@ConditionalOnAvailableEndpoint(IdempotencyEndpoint.class)
public final class IdempotencyEndpointAutoConfiguration {

    @Bean
    @ConditionalOnMissingBean
    static KnownParameters idempotencyKnownParameters() {
        return new KnownParameters();
    }

    @Bean
    ConsumerTallyRegistry idempotencyConsumerTallies() {
        return new ConsumerTallyRegistry();
    }

    @Bean
    @ConditionalOnMissingBean
    IdempotencyEndpoint idempotencyEndpoint(
            ListenerDefinitionRegistry definitions,
            ConsumerTallyRegistry tallies,
            StoreWatch storeWatch,
            LastCleanup cleanup,
            ProcessedMessageStore store) {
        return new IdempotencyEndpoint(new ConsumerReports(definitions, tallies, storeWatch, cleanup), store);
    }
}
