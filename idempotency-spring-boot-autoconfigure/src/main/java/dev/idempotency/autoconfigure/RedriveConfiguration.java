package dev.idempotency.autoconfigure;

import dev.idempotency.definition.ListenerDefinitionRegistry;
import dev.idempotency.kafka.RawRecordProducers;
import dev.idempotency.redrive.DeadLetterSourceResolver;
import dev.idempotency.redrive.DeadLetters;
import java.util.List;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.SearchStrategy;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.env.Environment;
import org.springframework.kafka.config.KafkaListenerEndpointRegistry;
import org.springframework.kafka.core.ProducerFactory;

/** Dead letters, and how they are sent back. */
@Configuration(proxyBeanMethods = false)
@EnableConfigurationProperties(ErrorsProperties.class)
final class RedriveConfiguration {

    /** A parent context's knows none of the consumers of this one. */
    @Bean
    @ConditionalOnMissingBean(search = SearchStrategy.CURRENT)
    DeadLetters idempotencyDeadLetters(
            ListenerDefinitionRegistry definitions,
            ObjectProvider<KafkaListenerEndpointRegistry> containers,
            ObjectProvider<ProducerFactory<?, ?>> producerFactory,
            IdempotencyProperties properties,
            ErrorsProperties errors,
            Environment environment) {
        DeadLetterSourceResolver sources = new DeadLetterSourceResolver(
                definitions::listeners,
                () -> containers.stream()
                        .map(KafkaListenerEndpointRegistry::getAllListenerContainers)
                        .findFirst()
                        .orElse(List.of()),
                producerFactory::getIfUnique,
                errors.deadLetter().suffix());
        RawRecordProducers producers = new RawRecordProducers(
                producerFactory::getIfUnique, environment.getProperty("spring.application.name"), "redrives");
        IdempotencyProperties.DeadLetters limits = properties.deadLetters();
        return new DeadLetters(sources, producers, limits.maxRedrives(), limits.redrivesPerSecond());
    }
}
