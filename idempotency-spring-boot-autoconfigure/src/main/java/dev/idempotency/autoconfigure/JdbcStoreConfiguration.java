package dev.idempotency.autoconfigure;

import dev.idempotency.DeduplicationStrategy;
import dev.idempotency.database.Dialect;
import dev.idempotency.database.IdempotencyDatabase;
import dev.idempotency.database.RetentionMode;
import dev.idempotency.lock.BusinessKeyLocks;
import dev.idempotency.observe.ConsumerRegistry;
import dev.idempotency.observe.IdempotencyEventListener;
import dev.idempotency.operation.DeclaredConsumers;
import dev.idempotency.result.ResultConverter;
import dev.idempotency.result.ResultStore;
import dev.idempotency.retention.Cleanup;
import dev.idempotency.retention.CleanupSchedule;
import dev.idempotency.retention.CleanupTask;
import dev.idempotency.retention.ProcessedMessageCleanup;
import dev.idempotency.retention.RingCleanup;
import dev.idempotency.store.JdbcProcessedMessageStore;
import dev.idempotency.store.ProcessedMessagePurge;
import dev.idempotency.store.RingPurge;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.SearchStrategy;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** Beans that need the JDBC store: results and the cleanup. */
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
        if (database.retentionMode() == RetentionMode.RING) {
            all.add(new RingCleanup(new RingPurge(database), consumers::retentions, orphansAfter));
        }
        all.add(new ProcessedMessageCleanup(new ProcessedMessagePurge(database), consumers, orphansAfter));
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
}
