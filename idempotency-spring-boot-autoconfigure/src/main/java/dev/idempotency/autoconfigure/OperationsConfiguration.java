package dev.idempotency.autoconfigure;

import dev.idempotency.IdempotentConsumer;
import dev.idempotency.IdempotentOperations;
import dev.idempotency.observe.IdempotencyObserver;
import dev.idempotency.operation.DeclaredConsumers;
import dev.idempotency.operation.TransactionalOperations;
import dev.idempotency.result.JacksonResultConverter;
import dev.idempotency.result.KeptResults;
import dev.idempotency.result.ResultConverter;
import dev.idempotency.store.ProcessedMessageStore;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
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
