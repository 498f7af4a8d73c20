package dev.idempotency.autoconfigure;

import dev.idempotency.actuate.ConsumerReports;
import dev.idempotency.actuate.IdempotencyEndpoint;
import dev.idempotency.actuate.IdempotencyInboxEndpoint;
import dev.idempotency.actuate.KnownParameters;
import dev.idempotency.definition.ListenerDefinitionRegistry;
import dev.idempotency.inbox.Inbox;
import dev.idempotency.metrics.ConsumerTallyRegistry;
import dev.idempotency.metrics.StoreWatch;
import dev.idempotency.retention.Cleanup;
import dev.idempotency.store.ProcessedMessageStore;
import java.util.stream.Collectors;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.actuate.autoconfigure.endpoint.condition.ConditionalOnAvailableEndpoint;
import org.springframework.boot.actuate.endpoint.annotation.Endpoint;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;

/** Auto-configuration for the Actuator endpoints {@code idempotency} and {@code idempotencyinbox}. */
@AutoConfiguration(after = IdempotencyAutoConfiguration.class)
@ConditionalOnClass({Endpoint.class, ConditionalOnAvailableEndpoint.class})
@ConditionalOnBean(ListenerDefinitionRegistry.class)
public final class IdempotencyEndpointAutoConfiguration {

    @Bean
    @ConditionalOnMissingBean
    static KnownParameters idempotencyKnownParameters() {
        return new KnownParameters();
    }

    @Bean
    @ConditionalOnAvailableEndpoint(IdempotencyEndpoint.class)
    ConsumerTallyRegistry idempotencyConsumerTallyRegistry() {
        return new ConsumerTallyRegistry();
    }

    @Bean
    @ConditionalOnAvailableEndpoint
    @ConditionalOnMissingBean
    IdempotencyEndpoint idempotencyEndpoint(
            ListenerDefinitionRegistry definitions,
            ConsumerTallyRegistry tallies,
            StoreWatch storeWatch,
            ObjectProvider<Cleanup> cleanup,
            ProcessedMessageStore store) {
        return new IdempotencyEndpoint(
                new ConsumerReports(definitions, tallies, storeWatch, cleanup.getIfUnique()), store);
    }

    @Bean
    @ConditionalOnAvailableEndpoint
    @ConditionalOnBean(Inbox.class)
    @ConditionalOnMissingBean
    IdempotencyInboxEndpoint idempotencyInboxEndpoint(Inbox inbox, ListenerDefinitionRegistry definitions) {
        return new IdempotencyInboxEndpoint(inbox, () -> definitions.listeners().stream()
                .map(listener -> listener.consumer().name())
                .collect(Collectors.toSet()));
    }
}
