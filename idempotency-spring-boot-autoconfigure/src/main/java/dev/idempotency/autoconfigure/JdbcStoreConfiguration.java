package dev.idempotency.autoconfigure;

import dev.idempotency.Strategy;
import dev.idempotency.database.Dialect;
import dev.idempotency.database.IdempotencyDatabase;
import dev.idempotency.definition.ListenerDefinitionRegistry;
import dev.idempotency.definition.ProtectedListener;
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
import dev.idempotency.step.SecondConnection;
import dev.idempotency.step.StepTable;
import dev.idempotency.step.Steps;
import dev.idempotency.store.JdbcProcessedMessageStore;
import dev.idempotency.store.ProcessedMessagePurge;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.SearchStrategy;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.jdbc.metadata.CompositeDataSourcePoolMetadataProvider;
import org.springframework.boot.jdbc.metadata.DataSourcePoolMetadata;
import org.springframework.boot.jdbc.metadata.DataSourcePoolMetadataProvider;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Condition;
import org.springframework.context.annotation.ConditionContext;
import org.springframework.context.annotation.Conditional;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.env.Environment;
import org.springframework.core.type.AnnotatedTypeMetadata;
import org.springframework.kafka.core.ProducerFactory;
import org.springframework.kafka.listener.ConcurrentMessageListenerContainer;

/** Beans that need the JDBC store: the inbox, results, and the cleanup. */
@Configuration(proxyBeanMethods = false)
@ConditionalOnBean({JdbcProcessedMessageStore.class, Dialect.class})
final class JdbcStoreConfiguration {

    /** A parent context's knows none of the consumers of this one. */
    @Bean
    @ConditionalOnMissingBean(search = SearchStrategy.CURRENT)
    Cleanup idempotencyCleanup(
            JdbcProcessedMessageStore store,
            ObjectProvider<ConsumerRegistry> registries,
            ObjectProvider<DeclaredConsumers> declared,
            ObjectProvider<CleanupTask> tasks,
            ObjectProvider<CleanupObserver> observers,
            IdempotencyProperties properties) {
        IdempotencyDatabase database = store.database();
        ConsumerRegistry consumers = ConsumerRegistry.of(registries::stream);
        Duration orphansAfter = properties.cleanup().orphansAfter().duration();
        IdempotencyProperties.Inbox.Retention inbox = properties.inbox().retention();
        List<CleanupTask> all = new ArrayList<>();
        all.add(new ProcessedMessageCleanup(new ProcessedMessagePurge(database), consumers, orphansAfter));
        all.add(new ProcessedMessageCleanup(
                "versions",
                ProcessedMessagePurge.ofVersions(database),
                () -> consumers.recognisedBy(Strategy.VERSION).retentions(),
                orphansAfter));
        all.add(new InboxCleanup(new InboxPurge(database), consumers, orphansAfter, inbox.processed(), inbox.failed()));
        all.add(new ProcessedMessageCleanup(
                "results",
                ProcessedMessagePurge.ofResults(database),
                () -> declared.getObject()
                        .resultRetentions(
                                consumers.retentions(), properties.results().longestRetention()),
                orphansAfter));
        all.add(new ProcessedMessageCleanup(
                "steps", ProcessedMessagePurge.ofSteps(database), consumers::retentions, orphansAfter));
        tasks.orderedStream().forEach(all::add);
        return new Cleanup(all, observers.orderedStream().toList());
    }

    @Bean
    @ConditionalOnMissingBean(search = SearchStrategy.CURRENT)
    @Conditional(Scheduled.class)
    CleanupSchedule idempotencyCleanupSchedule(Cleanup cleanup, IdempotencyProperties properties) {
        return new CleanupSchedule(
                cleanup, Objects.requireNonNull(properties.cleanup().interval().duration()));
    }

    @Bean
    InboxRecorderFactory idempotencyInboxRecorderFactory(
            JdbcProcessedMessageStore store,
            IdempotencyProperties properties,
            DeserializerInstrumentation deserializers,
            OutageRegistry outages,
            ObjectProvider<InboxObserver> observers) {
        return new InboxRecorderFactory(
                store,
                properties.inbox().enabled(),
                Math.toIntExact(properties.inbox().maxPayload().toBytes()),
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
    StepTable idempotencyStepTable(JdbcProcessedMessageStore store) {
        return new StepTable(store.database());
    }

    @Bean
    Steps idempotencySteps(
            StepTable table,
            ObjectProvider<ResultConverter> converter,
            JdbcProcessedMessageStore store,
            ObjectProvider<DataSourcePoolMetadataProvider> pools,
            ObjectProvider<ListenerDefinitionRegistry> listeners) {
        return new Steps(
                table,
                converter::getIfAvailable,
                new SecondConnection(() -> maxSize(pools, store.dataSource()), () -> listeners.stream()
                        .mapToInt(JdbcStoreConfiguration::consumerThreads)
                        .sum()));
    }

    private static @Nullable Integer maxSize(ObjectProvider<DataSourcePoolMetadataProvider> pools, DataSource source) {
        DataSourcePoolMetadata pool =
                new CompositeDataSourcePoolMetadataProvider(pools.stream().toList()).getDataSourcePoolMetadata(source);
        return (pool != null) ? pool.getMax() : null;
    }

    private static int consumerThreads(ListenerDefinitionRegistry listeners) {
        return listeners.listeners().stream()
                .map(ProtectedListener::container)
                .distinct()
                .mapToInt(container -> (container instanceof ConcurrentMessageListenerContainer<?, ?> concurrent)
                        ? concurrent.getConcurrency()
                        : 1)
                .sum();
    }

    /** Unless the interval is {@code -}. */
    static final class Scheduled implements Condition {

        @Override
        public boolean matches(ConditionContext context, AnnotatedTypeMetadata metadata) {
            return Binder.get(context.getEnvironment())
                            .bindOrCreate("idempotency.cleanup", IdempotencyProperties.Cleanup.class)
                            .interval()
                            .duration()
                    != null;
        }
    }
}
