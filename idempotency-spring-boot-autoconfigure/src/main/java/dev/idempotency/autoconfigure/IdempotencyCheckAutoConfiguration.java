package dev.idempotency.autoconfigure;

import dev.idempotency.internal.check.ListenerChecks;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.env.Environment;
import org.springframework.kafka.annotation.KafkaListener;

/** Auto-configuration for what is verified before the first message, such as that there is a store. */
@AutoConfiguration(after = IdempotencyListenerAutoConfiguration.class)
@ConditionalOnProperty(name = "idempotency.enabled", matchIfMissing = true)
@EnableConfigurationProperties(IdempotencyProperties.class)
public final class IdempotencyCheckAutoConfiguration {

    @Bean
    UnknownPropertyReporter idempotencyUnknownPropertyReporter(Environment environment) {
        return new UnknownPropertyReporter(environment);
    }

    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass({KafkaListener.class, ListenerChecks.class})
    static final class ListenerConfiguration {

        @Bean
        ListenerChecks idempotencyListenerChecks(
                ConfigurableListableBeanFactory beanFactory, IdempotencyProperties properties) {
            IdempotencyProperties.Checks checks = properties.checks();
            return new ListenerChecks(
                    beanFactory,
                    checks.mode(),
                    checks.relaxed(),
                    checks.brokerTimeout(),
                    properties.deadLetters().suffixIfEnabled());
        }
    }
}
