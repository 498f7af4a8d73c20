package dev.idempotency.autoconfigure;

import dev.idempotency.event.IdempotencyEventListener;
import dev.idempotency.inbox.Inbox;
import dev.idempotency.internal.database.Dialect;
import dev.idempotency.internal.definition.InboxRecorder;
import dev.idempotency.internal.definition.ListenerDefinitionRegistry;
import dev.idempotency.internal.event.ConsumerRegistry;
import dev.idempotency.internal.event.IdempotencyEventNotifier;
import dev.idempotency.internal.failure.OutageRegistry;
import dev.idempotency.internal.inbox.InboxCleanup;
import dev.idempotency.internal.inbox.JdbcInbox;
import dev.idempotency.internal.inbox.JdbcInboxRecorder;
import dev.idempotency.internal.job.RawRecordProducers;
import dev.idempotency.internal.kafka.DeserializerInstrumentation;
import dev.idempotency.internal.reconciliation.KafkaReconciliation;
import dev.idempotency.internal.redrive.DeadLetterSources;
import dev.idempotency.internal.redrive.KafkaDeadLetters;
import dev.idempotency.internal.store.JdbcProcessedMessageStore;
import dev.idempotency.reconciliation.Reconciliation;
import dev.idempotency.redrive.DeadLetters;
import dev.idempotency.store.ProcessedMessageStore;
import java.util.List;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.SearchStrategy;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.env.Environment;
import org.springframework.kafka.annotation.KafkaListener;
import org.springframework.kafka.config.KafkaListenerEndpointRegistry;
import org.springframework.kafka.core.ProducerFactory;

/** Auto-configuration of the operators' beans, which know only the consumers of their application context. */
@AutoConfiguration(after = IdempotencyListenerAutoConfiguration.class)
@ConditionalOnClass({KafkaListener.class, DeadLetters.class})
@ConditionalOnBean(ListenerDefinitionRegistry.class)
public final class IdempotencyOperatorsAutoConfiguration {

    @Bean
    DeadLetterSources idempotencyDeadLetterSources(
            ListenerDefinitionRegistry definitions,
            ObjectProvider<KafkaListenerEndpointRegistry> containers,
            ObjectProvider<ProducerFactory<?, ?>> producerFactory,
            IdempotencyProperties properties) {
        return new DeadLetterSources(
                definitions::listeners,
                () -> containers.stream()
                        .map(KafkaListenerEndpointRegistry::getAllListenerContainers)
                        .findFirst()
                        .orElse(List.of()),
                producerFactory::getIfUnique,
                properties.deadLetters().suffix(),
                properties.deadLetters().maxRedrives());
    }

    @Bean
    @ConditionalOnMissingBean(search = SearchStrategy.CURRENT)
    DeadLetters idempotencyDeadLetters(
            DeadLetterSources sources,
            ObjectProvider<ProducerFactory<?, ?>> producerFactory,
            IdempotencyProperties properties,
            Environment environment) {
        return new KafkaDeadLetters(
                sources,
                producers("redrives", producerFactory, environment),
                properties.deadLetters().redrivesPerSecond());
    }

    @Bean
    @ConditionalOnMissingBean(search = SearchStrategy.CURRENT)
    Reconciliation idempotencyReconciliation(
            ListenerDefinitionRegistry definitions,
            ProcessedMessageStore store,
            ObjectProvider<Inbox> inbox,
            DeadLetterSources deadLetters,
            ObjectProvider<ProducerFactory<?, ?>> producerFactory,
            ObjectProvider<IdempotencyEventListener> observers,
            IdempotencyProperties properties,
            Environment environment) {
        return new KafkaReconciliation(
                definitions::listeners,
                store,
                inbox::getIfUnique,
                deadLetters,
                producers("reconciliation", producerFactory, environment),
                properties.reconciliation().recordsPerSecond(),
                notifier(observers));
    }

    private static RawRecordProducers producers(
            String purpose, ObjectProvider<ProducerFactory<?, ?>> factory, Environment environment) {
        return new RawRecordProducers(
                factory::getIfUnique, environment.getProperty("spring.application.name"), purpose);
    }

    private static IdempotencyEventListener notifier(ObjectProvider<IdempotencyEventListener> observers) {
        return IdempotencyEventNotifier.of(observers.orderedStream().toList());
    }

    @Configuration(proxyBeanMethods = false)
    @ConditionalOnBean({JdbcProcessedMessageStore.class, Dialect.class})
    static final class InboxConfiguration {

        @Bean
        JdbcInboxRecorder.Factory idempotencyInboxRecorderFactory(
                JdbcProcessedMessageStore store,
                IdempotencyProperties properties,
                DeserializerInstrumentation deserializers,
                OutageRegistry outages,
                ObjectProvider<IdempotencyEventListener> observers) {
            return new JdbcInboxRecorder.Factory(
                    store,
                    Math.toIntExact(properties.inbox().maxPayload().toBytes()),
                    deserializers,
                    (messages, failure) -> outages.isOutage(
                            messages.get(0).id().consumer(),
                            messages.stream()
                                    .map(InboxRecorder.Delivered::record)
                                    .toList(),
                            failure),
                    notifier(observers));
        }

        @Bean
        Inbox idempotencyInbox(
                JdbcProcessedMessageStore store,
                JdbcInboxRecorder.Factory listeners,
                ObjectProvider<ProducerFactory<?, ?>> producerFactory,
                ObjectProvider<IdempotencyEventListener> observers,
                Environment environment) {
            return new JdbcInbox(
                    store, listeners, producers("replays", producerFactory, environment), notifier(observers));
        }

        @Bean
        InboxCleanup idempotencyInboxCleanup(
                JdbcProcessedMessageStore store,
                ObjectProvider<ConsumerRegistry> consumers,
                IdempotencyProperties properties) {
            IdempotencyProperties.Inbox.Retention retention = properties.inbox().retention();
            return new InboxCleanup(
                    store.database(),
                    ConsumerRegistry.of(consumers::stream),
                    properties.cleanup().orphans().afterIfEnabled(),
                    retention.processed(),
                    retention.failed());
        }
    }
}
