package dev.idempotency.autoconfigure;

import dev.idempotency.Strategy;
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
import dev.idempotency.operation.DeclaredConsumers;
import dev.idempotency.result.KeptResults;
import dev.idempotency.result.ResultConverter;
import dev.idempotency.retention.Cleanup;
import dev.idempotency.retention.CleanupObserver;
import dev.idempotency.retention.CleanupSchedule;
import dev.idempotency.retention.CleanupTask;
import dev.idempotency.retention.InboxCleanup;
import dev.idempotency.retention.ProcessedMessageCleanup;
import dev.idempotency.store.JdbcProcessedMessageStore;
import dev.idempotency.store.ProcessedMessagePurge;
import java.util.Objects;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.SearchStrategy;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Condition;
import org.springframework.context.annotation.ConditionContext;
import org.springframework.context.annotation.Conditional;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.env.Environment;
import org.springframework.core.type.AnnotatedTypeMetadata;
import org.springframework.kafka.core.ProducerFactory;

/** Beans that need the JDBC store: the inbox, results, and the cleanup. */
@Configuration(proxyBeanMethods = false)
@ConditionalOnBean({JdbcProcessedMessageStore.class, Dialect.class})
@EnableConfigurationProperties({InboxProperties.class, CleanupProperties.class})
final class JdbcStoreConfiguration {

    @Bean
    ProcessedMessageCleanup idempotencyProcessedMessageCleanup(
            JdbcProcessedMessageStore store, ObjectProvider<ConsumerRegistry> consumers, CleanupProperties cleanup) {
        return new ProcessedMessageCleanup(
                new ProcessedMessagePurge(store.database()),
                ConsumerRegistry.of(consumers::stream),
                cleanup.orphansAfter().duration());
    }

    @Bean
    ProcessedMessageCleanup idempotencyVersionCleanup(
            JdbcProcessedMessageStore store, ObjectProvider<ConsumerRegistry> consumers, CleanupProperties cleanup) {
        ConsumerRegistry all = ConsumerRegistry.of(consumers::stream);
        return new ProcessedMessageCleanup(
                "versions",
                ProcessedMessagePurge.ofVersions(store.database()),
                () -> all.recognisedBy(Strategy.VERSION).retentions(),
                cleanup.orphansAfter().duration());
    }

    /** A parent context's knows none of the consumers of this one. */
    @Bean
    @ConditionalOnMissingBean(search = SearchStrategy.CURRENT)
    Cleanup idempotencyCleanup(ObjectProvider<CleanupTask> tasks, ObjectProvider<CleanupObserver> observers) {
        return new Cleanup(
                tasks.orderedStream().toList(), observers.orderedStream().toList());
    }

    @Bean
    @ConditionalOnMissingBean(search = SearchStrategy.CURRENT)
    @Conditional(Scheduled.class)
    CleanupSchedule idempotencyCleanupSchedule(Cleanup cleanup, CleanupProperties properties) {
        return new CleanupSchedule(
                cleanup, Objects.requireNonNull(properties.interval().duration()));
    }

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

    @Bean
    KeptResults idempotencyKeptResults(
            JdbcProcessedMessageStore store,
            ObjectProvider<ResultConverter> converter,
            IdempotencyProperties properties) {
        return new KeptResults(
                store.database(),
                converter::getIfAvailable,
                properties.results().maxSize());
    }

    @Bean
    ProcessedMessageCleanup idempotencyResultCleanup(
            JdbcProcessedMessageStore store,
            ObjectProvider<ConsumerRegistry> registries,
            ObjectProvider<DeclaredConsumers> declared,
            IdempotencyProperties properties,
            CleanupProperties cleanup) {
        ConsumerRegistry all = ConsumerRegistry.of(registries::stream);
        return new ProcessedMessageCleanup(
                "results",
                ProcessedMessagePurge.ofResults(store.database()),
                () -> declared.getObject()
                        .resultRetentions(all.retentions(), properties.results().longestRetention()),
                cleanup.orphansAfter().duration());
    }

    /** Unless the interval is {@code -}. */
    static final class Scheduled implements Condition {

        @Override
        public boolean matches(ConditionContext context, AnnotatedTypeMetadata metadata) {
            CleanupProperties properties =
                    Binder.get(context.getEnvironment()).bindOrCreate("idempotency.cleanup", CleanupProperties.class);
            return properties.interval().duration() != null;
        }
    }
}
