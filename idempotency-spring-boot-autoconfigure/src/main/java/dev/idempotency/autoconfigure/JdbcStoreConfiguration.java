package dev.idempotency.autoconfigure;

import dev.idempotency.DeduplicationStrategy;
import dev.idempotency.event.IdempotencyEventListener;
import dev.idempotency.internal.database.Dialect;
import dev.idempotency.internal.database.IdempotencyDatabase;
import dev.idempotency.internal.event.ConsumerRegistry;
import dev.idempotency.internal.lock.BusinessKeyLocks;
import dev.idempotency.internal.operation.DeclaredConsumers;
import dev.idempotency.internal.result.ResultStore;
import dev.idempotency.internal.retention.CleanupSchedule;
import dev.idempotency.internal.retention.ProcessedMessageCleanup;
import dev.idempotency.internal.retention.RingCleanup;
import dev.idempotency.internal.step.SecondConnection;
import dev.idempotency.internal.step.StepTable;
import dev.idempotency.internal.step.Steps;
import dev.idempotency.internal.store.JdbcProcessedMessageStore;
import dev.idempotency.internal.store.ProcessedMessagePurge;
import dev.idempotency.result.ResultConverter;
import dev.idempotency.retention.Cleanup;
import dev.idempotency.retention.CleanupTask;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.SearchStrategy;
import org.springframework.boot.jdbc.metadata.CompositeDataSourcePoolMetadataProvider;
import org.springframework.boot.jdbc.metadata.DataSourcePoolMetadata;
import org.springframework.boot.jdbc.metadata.DataSourcePoolMetadataProvider;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** Beans that need the JDBC store: results, steps and the cleanup. */
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
            ObjectProvider<IdempotencyEventListener> observers,
            IdempotencyProperties properties) {
        IdempotencyDatabase database = store.database();
        ConsumerRegistry consumers = ConsumerRegistry.of(registries::stream);
        Duration orphansAfter = properties.cleanup().orphans().afterIfEnabled();
        List<CleanupTask> all = new ArrayList<>();
        if (database.isRing()) {
            all.add(new RingCleanup(database, consumers::retentions, orphansAfter));
        }
        all.add(new ProcessedMessageCleanup(
                "processed", new ProcessedMessagePurge(database), consumers::retentions, orphansAfter));
        all.add(new ProcessedMessageCleanup(
                "versions",
                ProcessedMessagePurge.ofVersions(database),
                () -> consumers.recognisedBy(DeduplicationStrategy.VERSION).retentions(),
                orphansAfter));
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
    @ConditionalOnBooleanProperty(name = "idempotency.cleanup.enabled", matchIfMissing = true)
    CleanupSchedule idempotencyCleanupSchedule(Cleanup cleanup, IdempotencyProperties properties) {
        return new CleanupSchedule(cleanup, properties.cleanup().interval());
    }

    @Bean
    ResultStore idempotencyResultStore(
            JdbcProcessedMessageStore store,
            ObjectProvider<ResultConverter> converter,
            IdempotencyProperties properties) {
        return new ResultStore(
                store.database(),
                converter::getIfAvailable,
                properties.results().maxSize());
    }

    @Bean
    BusinessKeyLocks idempotencyBusinessKeyLocks(JdbcProcessedMessageStore store, IdempotencyProperties properties) {
        return new BusinessKeyLocks(store.database(), properties.lock().timeout());
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
            ObjectProvider<ConsumerRegistry> consumers) {
        return new Steps(
                table,
                converter::getIfAvailable,
                new SecondConnection(
                        () -> sizeOf(store.dataSource(), pools.stream().toList()), () -> consumers.stream()
                                .mapToInt(ConsumerRegistry::threads)
                                .sum()));
    }

    private static @Nullable Integer sizeOf(DataSource pool, List<DataSourcePoolMetadataProvider> providers) {
        DataSourcePoolMetadata found =
                new CompositeDataSourcePoolMetadataProvider(providers).getDataSourcePoolMetadata(pool);
        return (found != null) ? found.getMax() : null;
    }
}
