package dev.idempotency.autoconfigure;

import dev.idempotency.database.Dialect;
import dev.idempotency.failure.OutageRegistry;
import dev.idempotency.inbox.Inbox;
import dev.idempotency.inbox.InboxObserver;
import dev.idempotency.inbox.InboxPurge;
import dev.idempotency.inbox.InboxRecorder;
import dev.idempotency.inbox.InboxRecorderFactory;
import dev.idempotency.kafka.DeserializerInstrumentation;
import dev.idempotency.observe.ConsumerRegistry;
import dev.idempotency.observe.ObserverNotifier;
import dev.idempotency.retention.InboxCleanup;
import dev.idempotency.store.JdbcProcessedMessageStore;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.env.Environment;
import org.springframework.kafka.core.ProducerFactory;

/** The messages that are kept. */
@Configuration(proxyBeanMethods = false)
@ConditionalOnBean({JdbcProcessedMessageStore.class, Dialect.class})
@EnableConfigurationProperties({InboxProperties.class, CleanupProperties.class})
final class InboxConfiguration {

    @Bean
    InboxRecorderFactory idempotencyInboxRecorderFactory(
            JdbcProcessedMessageStore store,
            InboxProperties inbox,
            DeserializerInstrumentation deserializers,
            OutageRegistry outages,
            ObjectProvider<InboxObserver> observers) {
        return new InboxRecorderFactory(
                store,
                inbox.settings(),
                deserializers,
                (messages, failure) -> outages.isOutage(
                        messages.get(0).id().consumer(),
                        messages.stream().map(InboxRecorder.Delivered::record).toList(),
                        failure),
                notifier(observers));
    }

    @Bean
    Inbox idempotencyInbox(
            JdbcProcessedMessageStore store,
            InboxRecorderFactory listeners,
            ObjectProvider<ProducerFactory<?, ?>> producerFactory,
            ObjectProvider<InboxObserver> observers,
            Environment environment) {
        return new Inbox(
                store,
                listeners,
                producerFactory::getIfUnique,
                environment.getProperty("spring.application.name"),
                notifier(observers));
    }

    @Bean
    InboxCleanup idempotencyInboxCleanup(
            JdbcProcessedMessageStore store,
            ObjectProvider<ConsumerRegistry> consumers,
            CleanupProperties cleanup,
            InboxProperties inbox) {
        return new InboxCleanup(
                new InboxPurge(store.database()),
                ConsumerRegistry.of(consumers::stream),
                cleanup.orphansAfter().duration(),
                inbox.retention().processed(),
                inbox.retention().failed());
    }

    private static ObserverNotifier<InboxObserver> notifier(ObjectProvider<InboxObserver> observers) {
        return new ObserverNotifier<>(observers.orderedStream().toList(), "the inbox is not affected");
    }
}
