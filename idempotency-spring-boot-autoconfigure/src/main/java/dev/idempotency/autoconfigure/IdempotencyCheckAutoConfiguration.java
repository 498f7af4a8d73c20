package dev.idempotency.autoconfigure;

import dev.idempotency.check.ListenerChecks;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;
import org.springframework.core.env.Environment;

/**
 * Auto-configuration for what is verified before the first message.
 *
 * <p>It does not ask for a store: that there is none is one of the things to be found.
 */
@AutoConfiguration(after = IdempotencyAutoConfiguration.class)
@ConditionalOnProperty(name = "idempotency.enabled", matchIfMissing = true)
@EnableConfigurationProperties({IdempotencyProperties.class, ErrorsProperties.class})
public final class IdempotencyCheckAutoConfiguration {

    @Bean
    ListenerChecks idempotencyListenerChecks(
            ConfigurableListableBeanFactory beanFactory, IdempotencyProperties properties, ErrorsProperties errors) {
        return new ListenerChecks(
                beanFactory,
                properties.checkPolicy(),
                properties.brokerCheckTimeout(),
                errors.deadLetter().enabled() ? errors.deadLetter().suffix() : null);
    }

    @Bean
    UnknownPropertyReporter idempotencyUnknownPropertyReporter(Environment environment) {
        return new UnknownPropertyReporter(environment);
    }
}
