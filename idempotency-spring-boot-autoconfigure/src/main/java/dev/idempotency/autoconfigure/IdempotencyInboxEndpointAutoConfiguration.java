package dev.idempotency.autoconfigure;

import dev.idempotency.actuate.IdempotencyInboxEndpoint;
import dev.idempotency.inbox.Inbox;
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
    IdempotencyInboxEndpoint idempotencyInboxEndpoint(Inbox inbox) {
        return new IdempotencyInboxEndpoint(inbox);
    }
}
