package dev.idempotency.autoconfigure;

import dev.idempotency.actuate.IdempotencyInboxEndpoint;
import dev.idempotency.actuate.KnownParameters;
import dev.idempotency.definition.ListenerDefinitionRegistry;
import dev.idempotency.inbox.Inbox;
import java.util.stream.Collectors;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.actuate.autoconfigure.endpoint.condition.ConditionalOnAvailableEndpoint;
import org.springframework.boot.actuate.endpoint.annotation.Endpoint;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.context.annotation.Bean;

/** Auto-configuration for the Actuator endpoint {@code idempotencyinbox}. */
@AutoConfiguration(after = IdempotencyInboxAutoConfiguration.class)
@ConditionalOnClass({Endpoint.class, ConditionalOnAvailableEndpoint.class})
@ConditionalOnProperty(name = "idempotency.enabled", matchIfMissing = true)
@ConditionalOnBean(Inbox.class)
@ConditionalOnAvailableEndpoint(IdempotencyInboxEndpoint.class)
public final class IdempotencyInboxEndpointAutoConfiguration {

    @Bean
    @ConditionalOnMissingBean
    static KnownParameters idempotencyKnownParameters() {
        return new KnownParameters();
    }

    @Bean
    @ConditionalOnMissingBean
    IdempotencyInboxEndpoint idempotencyInboxEndpoint(
            Inbox inbox, ObjectProvider<ListenerDefinitionRegistry> definitions) {
        return new IdempotencyInboxEndpoint(inbox, () -> definitions.stream()
                .flatMap(known -> known.listeners().stream())
                .map(listener -> listener.consumer().name())
                .collect(Collectors.toSet()));
    }
}
