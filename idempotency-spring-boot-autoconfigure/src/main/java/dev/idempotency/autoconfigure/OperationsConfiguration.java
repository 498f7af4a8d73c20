package dev.idempotency.autoconfigure;

import dev.idempotency.IdempotentConsumer;
import dev.idempotency.IdempotentOperations;
import dev.idempotency.database.Dialect;
import dev.idempotency.observe.ConsumerRegistry;
import dev.idempotency.observe.IdempotencyObserver;
import dev.idempotency.operation.DeclaredConsumers;
import dev.idempotency.operation.TransactionalOperations;
import dev.idempotency.result.JacksonResultConverter;
import dev.idempotency.result.KeptResults;
import dev.idempotency.result.ResultConverter;
import dev.idempotency.retention.ProcessedMessageCleanup;
import dev.idempotency.store.JdbcProcessedMessageStore;
import dev.idempotency.store.ProcessedMessagePurge;
import dev.idempotency.store.ProcessedMessageStore;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import tools.jackson.databind.json.JsonMapper;

/** Claims from code, and results that are kept. */
@Configuration(proxyBeanMethods = false)
final class OperationsConfiguration {

    @Bean
    DeclaredConsumers idempotencyDeclaredConsumers(
            ObjectProvider<IdempotentConsumer> consumers,
            IdempotencyProperties properties,
            ObjectProvider<IdempotencyObserver> observers) {
        return new DeclaredConsumers(
                consumers.orderedStream().toList(),
                properties.retention(),
                properties.results().longestRetention(),
                observers.orderedStream().toList());
    }

    /** A parent context's knows none of the consumers of this one, unless they are the application's own. */
    @Bean
    @ConditionalOnMissingBean(value = IdempotentOperations.class, ignored = TransactionalOperations.class)
    TransactionalOperations idempotentOperations(
            ProcessedMessageStore store,
            DeclaredConsumers consumers,
            ObjectProvider<KeptResults> results,
            ListableBeanFactory beanFactory) {
        return new TransactionalOperations(store, consumers, results.getIfAvailable(), beanFactory);
    }

    /** With the provided store alone: results stand in a table beside its own. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnBean({JdbcProcessedMessageStore.class, Dialect.class})
    @EnableConfigurationProperties(CleanupProperties.class)
    static final class ResultsConfiguration {

        @Bean
        KeptResults idempotencyKeptResults(
                JdbcProcessedMessageStore store,
                ObjectProvider<ResultConverter> converter,
                IdempotencyProperties properties) {
            return new KeptResults(
                    store.database(), converter::getIfAvailable, properties.results().maxSize());
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
                            .resultRetentions(
                                    all.retentions(), properties.results().longestRetention()),
                    cleanup.orphansAfter().duration());
        }
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
