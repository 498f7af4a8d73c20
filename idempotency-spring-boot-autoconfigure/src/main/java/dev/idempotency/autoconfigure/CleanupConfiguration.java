package dev.idempotency.autoconfigure;

import dev.idempotency.Strategy;
import dev.idempotency.database.Dialect;
import dev.idempotency.observe.ConsumerRegistry;
import dev.idempotency.retention.Cleanup;
import dev.idempotency.retention.CleanupObserver;
import dev.idempotency.retention.CleanupSchedule;
import dev.idempotency.retention.CleanupTask;
import dev.idempotency.retention.PositionCleanup;
import dev.idempotency.retention.ProcessedMessageCleanup;
import dev.idempotency.store.JdbcPositionStore;
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
import org.springframework.core.type.AnnotatedTypeMetadata;

/** The cleanup that forgets what has been remembered for long enough. */
@Configuration(proxyBeanMethods = false)
@ConditionalOnBean({JdbcProcessedMessageStore.class, Dialect.class})
@EnableConfigurationProperties(CleanupProperties.class)
final class CleanupConfiguration {

    private static final int BATCH_SIZE = 1000;
    private static final long ROWS_PER_RUN = 500_000;

    @Bean
    ProcessedMessageCleanup idempotencyProcessedMessageCleanup(
            JdbcProcessedMessageStore store, ObjectProvider<ConsumerRegistry> consumers, CleanupProperties cleanup) {
        return new ProcessedMessageCleanup(
                new ProcessedMessagePurge(store.database()),
                ConsumerRegistry.of(consumers::stream),
                cleanup.orphansAfter().duration());
    }

    @Bean
    @ConditionalOnBean(JdbcPositionStore.class)
    PositionCleanup idempotencyPositionCleanup(
            JdbcPositionStore positions, ObjectProvider<ConsumerRegistry> consumers, CleanupProperties cleanup) {
        return new PositionCleanup(
                positions,
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
    Cleanup idempotencyCleanup(
            ObjectProvider<CleanupTask> tasks, ObjectProvider<CleanupObserver> observers) {
        return new Cleanup(
                tasks.orderedStream().toList(),
                BATCH_SIZE,
                ROWS_PER_RUN,
                observers.orderedStream().toList());
    }

    @Bean
    @ConditionalOnMissingBean(search = SearchStrategy.CURRENT)
    @Conditional(Scheduled.class)
    CleanupSchedule idempotencyCleanupSchedule(Cleanup cleanup, CleanupProperties properties) {
        return new CleanupSchedule(
                cleanup, Objects.requireNonNull(properties.interval().duration()));
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
