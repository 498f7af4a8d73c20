package dev.idempotency.autoconfigure;

import dev.idempotency.definition.ListenerDefinitionRegistry;
import dev.idempotency.failure.DatabaseFailureClassifier;
import dev.idempotency.failure.ErrorHandlerInstaller;
import dev.idempotency.failure.FailureClassifier;
import dev.idempotency.failure.OutageRegistry;
import dev.idempotency.inbox.Inbox;
import dev.idempotency.kafka.DeserializerInstrumentation;
import dev.idempotency.kafka.RawRecordProducers;
import dev.idempotency.observe.ObserverNotifier;
import dev.idempotency.reconciliation.Reconciliation;
import dev.idempotency.reconciliation.ReconciliationObserver;
import dev.idempotency.redrive.DeadLetterSourceResolver;
import dev.idempotency.redrive.DeadLetters;
import dev.idempotency.store.ProcessedMessageStore;
import java.util.List;
import java.util.Map;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.SearchStrategy;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.env.Environment;
import org.springframework.kafka.config.KafkaListenerEndpointRegistry;
import org.springframework.kafka.core.ProducerFactory;

/** Error handling, redrive and reconciliation. Redrive and reconciliation know the consumers of their own context only. */
@Configuration(proxyBeanMethods = false)
@EnableConfigurationProperties(ErrorsProperties.class)
final class FailureConfiguration {

    @Bean
    @ConditionalOnMissingBean
    FailureClassifier idempotencyFailureClassifier() {
        return new DatabaseFailureClassifier();
    }

    @Bean
    OutageRegistry idempotencyOutageRegistry(
            FailureClassifier classifier,
            ErrorsProperties properties,
            ListableBeanFactory beanFactory,
            ProcessedMessageStore store) {
        return new OutageRegistry(
                nameOf(classifier, beanFactory), classifier, properties.outages(), store::takesWrites);
    }

    private static String nameOf(FailureClassifier classifier, ListableBeanFactory beanFactory) {
        return beanFactory.getBeansOfType(FailureClassifier.class, false, false).entrySet().stream()
                .filter(bean -> bean.getValue() == classifier)
                .map(Map.Entry::getKey)
                .findFirst()
                .orElse("failureClassifier");
    }

    @Bean
    DeserializerInstrumentation idempotencyDeserializerInstrumentation() {
        return new DeserializerInstrumentation();
    }

    @Bean
    ErrorHandlerInstaller idempotencyErrorHandlerInstaller(
            ErrorsProperties errors,
            IdempotencyProperties properties,
            OutageRegistry outages,
            DeserializerInstrumentation deserializers,
            ObjectProvider<ProducerFactory<?, ?>> producerFactory,
            Environment environment) {
        return new ErrorHandlerInstaller(
                errors.retries(),
                properties.deadLetters().suffixIfEnabled(),
                outages,
                deserializers,
                producerFactory::getIfUnique,
                environment.getProperty("spring.application.name"));
    }

    @Bean
    @ConditionalOnMissingBean(search = SearchStrategy.CURRENT)
    DeadLetters idempotencyDeadLetters(
            ListenerDefinitionRegistry definitions,
            ObjectProvider<KafkaListenerEndpointRegistry> containers,
            ObjectProvider<ProducerFactory<?, ?>> producerFactory,
            IdempotencyProperties properties,
            Environment environment) {
        DeadLetterSourceResolver sources = new DeadLetterSourceResolver(
                definitions::listeners,
                () -> containers.stream()
                        .map(KafkaListenerEndpointRegistry::getAllListenerContainers)
                        .findFirst()
                        .orElse(List.of()),
                producerFactory::getIfUnique,
                properties.deadLetters().suffix());
        RawRecordProducers producers = new RawRecordProducers(
                producerFactory::getIfUnique, environment.getProperty("spring.application.name"), "redrives");
        IdempotencyProperties.DeadLetters limits = properties.deadLetters();
        return new DeadLetters(sources, producers, limits.maxRedrives(), limits.redrivesPerSecond());
    }

    @Bean
    @ConditionalOnMissingBean(search = SearchStrategy.CURRENT)
    Reconciliation idempotencyReconciliation(
            ListenerDefinitionRegistry definitions,
            ProcessedMessageStore store,
            ObjectProvider<Inbox> inbox,
            DeadLetters deadLetters,
            ObjectProvider<ProducerFactory<?, ?>> producerFactory,
            ObjectProvider<ReconciliationObserver> observers,
            IdempotencyProperties properties,
            Environment environment) {
        RawRecordProducers producers = new RawRecordProducers(
                producerFactory::getIfUnique, environment.getProperty("spring.application.name"), "reconciliation");
        return new Reconciliation(
                definitions::listeners,
                store,
                inbox::getIfUnique,
                deadLetters,
                producers,
                properties.reconciliation().recordsPerSecond(),
                new ObserverNotifier<>(observers.orderedStream().toList(), "the reconciliation is not affected"));
    }
}
