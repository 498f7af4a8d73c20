package dev.idempotency.autoconfigure;

import dev.idempotency.definition.ListenerDefinitionRegistry;
import dev.idempotency.inbox.Inbox;
import dev.idempotency.kafka.RawRecordProducers;
import dev.idempotency.observe.ObserverNotifier;
import dev.idempotency.reconciliation.Reconciliation;
import dev.idempotency.reconciliation.ReconciliationObserver;
import dev.idempotency.reconciliation.ReconciliationSchedule;
import dev.idempotency.redrive.DeadLetters;
import dev.idempotency.store.ProcessedMessageStore;
import java.util.Objects;
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
import org.springframework.kafka.core.ProducerFactory;

/** Topics that are held against what is remembered of them. */
@Configuration(proxyBeanMethods = false)
@EnableConfigurationProperties(ReconciliationProperties.class)
final class ReconciliationConfiguration {

    /** A parent context's knows none of the consumers of this one. */
    @Bean
    @ConditionalOnMissingBean(search = SearchStrategy.CURRENT)
    Reconciliation idempotencyReconciliation(
            ListenerDefinitionRegistry definitions,
            ProcessedMessageStore store,
            ObjectProvider<Inbox> inbox,
            DeadLetters deadLetters,
            ObjectProvider<ProducerFactory<?, ?>> producerFactory,
            ObjectProvider<ReconciliationObserver> observers,
            ReconciliationProperties properties,
            Environment environment) {
        RawRecordProducers producers = new RawRecordProducers(
                producerFactory::getIfUnique, environment.getProperty("spring.application.name"), "reconciliation");
        return new Reconciliation(
                definitions::listeners,
                store,
                inbox::getIfUnique,
                deadLetters,
                producers,
                properties.recordsPerSecond(),
                new ObserverNotifier<>(observers.orderedStream().toList(), "the reconciliation is not affected"));
    }

    @Bean
    @ConditionalOnMissingBean(search = SearchStrategy.CURRENT)
    @Conditional(Scheduled.class)
    ReconciliationSchedule idempotencyReconciliationSchedule(
            Reconciliation reconciliation, ReconciliationProperties properties) {
        return new ReconciliationSchedule(reconciliation, Objects.requireNonNull(properties.expression()));
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
