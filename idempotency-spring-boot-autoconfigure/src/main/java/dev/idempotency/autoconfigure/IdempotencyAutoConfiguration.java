package dev.idempotency.autoconfigure;

import dev.idempotency.DeduplicationStrategy;
import dev.idempotency.IdempotentConsumer;
import dev.idempotency.IdempotentOperations;
import dev.idempotency.event.IdempotencyEventListener;
import dev.idempotency.internal.event.ConsumerRegistry;
import dev.idempotency.internal.metrics.StoreWatch;
import dev.idempotency.internal.operation.DeclaredConsumers;
import dev.idempotency.internal.operation.IdempotentTemplate;
import dev.idempotency.internal.result.JacksonResultConverter;
import dev.idempotency.internal.result.ResultStore;
import dev.idempotency.internal.result.Steps;
import dev.idempotency.internal.store.BusinessKeyLocks;
import dev.idempotency.internal.store.JdbcVersionStore;
import dev.idempotency.result.ResultConverter;
import dev.idempotency.store.ProcessedMessageStore;
import dev.idempotency.store.StoreStatistics;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import tools.jackson.databind.json.JsonMapper;

/** Auto-configuration for claims from code and, with the JDBC store, results and cleanup, without Kafka. */
@AutoConfiguration(after = IdempotencyStoreAutoConfiguration.class)
@ConditionalOnProperty(name = "idempotency.enabled", matchIfMissing = true)
@ConditionalOnBean(ProcessedMessageStore.class)
@EnableConfigurationProperties(IdempotencyProperties.class)
@Import(JdbcStoreConfiguration.class)
public final class IdempotencyAutoConfiguration {

    @Bean
    StoreWatch idempotencyStoreWatch(
            ProcessedMessageStore store,
            ObjectProvider<JdbcVersionStore> versions,
            ObjectProvider<ConsumerRegistry> consumers,
            IdempotencyProperties properties) {
        ConsumerRegistry all = ConsumerRegistry.of(consumers::stream);
        return new StoreWatch(
                () -> statistics(store, versions.getIfAvailable(), all),
                properties.metrics().storeRefreshInterval());
    }

    /** Of the tables that have a consumer. */
    private static StoreStatistics statistics(
            ProcessedMessageStore store, @Nullable JdbcVersionStore versions, ConsumerRegistry consumers) {
        Set<String> versioned =
                consumers.recognisedBy(DeduplicationStrategy.VERSION).names();
        StoreStatistics processed = store.statistics(consumers.names());
        return (versions != null && !versioned.isEmpty()) ? processed.plus(versions.statistics(versioned)) : processed;
    }

    @Bean
    DeclaredConsumers idempotencyDeclaredConsumers(
            ObjectProvider<IdempotentConsumer> consumers,
            IdempotencyProperties properties,
            ObjectProvider<IdempotencyEventListener> observers) {
        return new DeclaredConsumers(
                consumers.orderedStream().toList(),
                properties.retention(),
                properties.results().longestRetention(),
                observers.orderedStream().toList());
    }

    /** A parent context's knows none of the consumers of this one, unless they are the application's own. */
    @Bean
    @ConditionalOnMissingBean(value = IdempotentOperations.class, ignored = IdempotentTemplate.class)
    IdempotentTemplate idempotentOperations(
            ProcessedMessageStore store,
            DeclaredConsumers consumers,
            ObjectProvider<ResultStore> results,
            ObjectProvider<BusinessKeyLocks> locks,
            ObjectProvider<Steps> steps,
            ListableBeanFactory beanFactory) {
        return new IdempotentTemplate(
                store,
                consumers,
                results.getIfAvailable(),
                locks.getIfAvailable(),
                steps.getIfAvailable(),
                beanFactory);
    }

    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(JsonMapper.class)
    static final class JsonConfiguration {

        @Bean
        @ConditionalOnMissingBean(ResultConverter.class)
        JacksonResultConverter idempotencyResultConverter(ObjectProvider<JsonMapper> mapper) {
            return new JacksonResultConverter(mapper::getIfUnique);
        }
    }
}
