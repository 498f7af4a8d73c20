package dev.idempotency.autoconfigure;

import dev.idempotency.DeduplicationStrategy;
import dev.idempotency.event.IdempotencyEventListener;
import dev.idempotency.internal.database.Dialect;
import dev.idempotency.internal.database.IdempotencyDatabase;
import dev.idempotency.internal.event.ConsumerRegistry;
import dev.idempotency.internal.operation.DeclaredConsumers;
import dev.idempotency.internal.result.ResultStore;
import dev.idempotency.internal.result.Steps;
import dev.idempotency.internal.retention.CleanupSchedule;
import dev.idempotency.internal.retention.ProcessedMessageCleanup;
import dev.idempotency.internal.retention.RingCleanup;
import dev.idempotency.internal.store.BusinessKeyLocks;
import dev.idempotency.internal.store.JdbcProcessedMessageStore;
import dev.idempotency.internal.store.ProcessedMessagePurge;
import dev.idempotency.result.ResultConverter;
import dev.idempotency.retention.Cleanup;
import dev.idempotency.retention.CleanupTask;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.SearchStrategy;
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
                ProcessedMessagePurge.ofOwnActivity(database, database.versionTable()),
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

    /** They know the pool's size, if it is of a kind that Spring Boot knows. */
    @Bean
    Steps idempotencySteps(
            JdbcProcessedMessageStore store,
            ResultStore results,
            ObjectProvider<DataSourcePoolMetadataProvider> pools) {
        return new Steps(store.database(), results, () -> pools.stream()
                .map(pool -> pool.getDataSourcePoolMetadata(store.dataSource()))
                .filter(Objects::nonNull)
                .map(DataSourcePoolMetadata::getMax)
                .filter(max -> max != null && max > 0)
                .findFirst()
                .orElse(Integer.MAX_VALUE));
    }
}
