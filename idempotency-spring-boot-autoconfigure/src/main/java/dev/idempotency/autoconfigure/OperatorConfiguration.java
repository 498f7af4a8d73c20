package dev.idempotency.autoconfigure;

import dev.idempotency.definition.ListenerDefinitionRegistry;
import dev.idempotency.inbox.Inbox;
import dev.idempotency.kafka.RawRecordProducers;
import dev.idempotency.observe.ObserverNotifier;
import dev.idempotency.reconciliation.Reconciliation;
import dev.idempotency.reconciliation.ReconciliationObserver;
import dev.idempotency.reconciliation.ReconciliationSchedule;
import dev.idempotency.redrive.DeadLetterSourceResolver;
import dev.idempotency.redrive.DeadLetters;
import dev.idempotency.store.ProcessedMessageStore;
import java.util.List;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.autoconfigure.condition.NoneNestedConditions;
import org.springframework.boot.autoconfigure.condition.SearchStrategy;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Conditional;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.env.Environment;
import org.springframework.kafka.config.KafkaListenerEndpointRegistry;
import org.springframework.kafka.core.ProducerFactory;
import org.springframework.scheduling.support.CronExpression;

/** Redrive and reconciliation. Those of a parent context do not know the consumers of this one. */
@Configuration(proxyBeanMethods = false)
@EnableConfigurationProperties(ErrorsProperties.class)
final class OperatorConfiguration {

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

    @Bean
    @ConditionalOnMissingBean(search = SearchStrategy.CURRENT)
    @Conditional(Scheduled.class)
    ReconciliationSchedule idempotencyReconciliationSchedule(
            Reconciliation reconciliation, IdempotencyProperties properties) {
        return new ReconciliationSchedule(
                reconciliation, CronExpression.parse(properties.reconciliation().cron()));
    }

    /** If there is an expression. */
    static final class Scheduled extends NoneNestedConditions {

        Scheduled() {
            super(ConfigurationPhase.REGISTER_BEAN);
        }

        @ConditionalOnProperty(name = "idempotency.reconciliation.cron", havingValue = "-", matchIfMissing = true)
        static final class Never {}
    }
}
