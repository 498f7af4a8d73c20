package dev.idempotency.autoconfigure;

import dev.idempotency.IdempotentConsumer;
import dev.idempotency.IdempotentOperations;
import dev.idempotency.Strategy;
import dev.idempotency.definition.ListenerDefaults;
import dev.idempotency.definition.ListenerDefinitionRegistry;
import dev.idempotency.failure.ErrorHandlerInstaller;
import dev.idempotency.failure.OutageRegistry;
import dev.idempotency.inbox.InboxRecorderFactory;
import dev.idempotency.kafka.DeserializerInstrumentation;
import dev.idempotency.kafka.TopicLookup;
import dev.idempotency.key.HeaderKeyResolver;
import dev.idempotency.key.MessageKeyResolver;
import dev.idempotency.listener.IdempotentListenerAdvisor;
import dev.idempotency.listener.IdempotentListenerEnhancer;
import dev.idempotency.listener.ListenerContainerConfigurer;
import dev.idempotency.metrics.StoreWatch;
import dev.idempotency.observe.ConsumerRegistry;
import dev.idempotency.observe.IdempotencyObserver;
import dev.idempotency.operation.DeclaredConsumers;
import dev.idempotency.operation.TransactionalOperations;
import dev.idempotency.result.JacksonResultConverter;
import dev.idempotency.result.KeptResults;
import dev.idempotency.result.ResultConverter;
import dev.idempotency.step.Steps;
import dev.idempotency.store.JdbcStrategyFactory;
import dev.idempotency.store.ProcessedMessageStore;
import dev.idempotency.store.StoreStatistics;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.config.AopConfigUtils;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.beans.factory.support.BeanDefinitionRegistry;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.kafka.autoconfigure.KafkaAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.context.annotation.ImportBeanDefinitionRegistrar;
import org.springframework.context.annotation.Role;
import org.springframework.core.type.AnnotationMetadata;
import org.springframework.kafka.retrytopic.DestinationTopicResolver;
import tools.jackson.databind.json.JsonMapper;

/**
 * Auto-configuration for {@code @IdempotentListener}: the listeners, what becomes of messages that fail and of dead letters,
 * claims from code, and, with the JDBC store, cleanup, inbox and results.
 */
@AutoConfiguration(after = {IdempotencyStoreAutoConfiguration.class, KafkaAutoConfiguration.class})
@ConditionalOnProperty(name = "idempotency.enabled", matchIfMissing = true)
@ConditionalOnBean(ProcessedMessageStore.class)
@EnableConfigurationProperties(IdempotencyProperties.class)
@Import({
    IdempotencyAutoConfiguration.AutoProxyCreatorRegistrar.class,
    FailureConfiguration.class,
    JdbcStoreConfiguration.class
})
public final class IdempotencyAutoConfiguration {

    @Bean
    @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
    static IdempotentListenerAdvisor idempotentListenerAdvisor() {
        return new IdempotentListenerAdvisor();
    }

    @Bean
    @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
    static IdempotentListenerEnhancer idempotentListenerEnhancer(
            ObjectProvider<ListenerContainerConfigurer> containers) {
        return new IdempotentListenerEnhancer(containers);
    }

    @Bean
    ListenerContainerConfigurer idempotencyListenerContainerConfigurer(
            ListenerDefinitionRegistry definitions,
            ObjectProvider<DestinationTopicResolver> retryTopics,
            ErrorHandlerInstaller errorHandlers,
            BeanFactory beanFactory) {
        return new ListenerContainerConfigurer(definitions, retryTopics, errorHandlers, beanFactory);
    }

    @Bean
    TopicLookup idempotencyTopicLookup() {
        return new TopicLookup();
    }

    @Bean
    ListenerDefinitionRegistry idempotencyListenerDefinitionRegistry(
            ConfigurableListableBeanFactory beanFactory,
            ProcessedMessageStore store,
            ObjectProvider<JdbcStrategyFactory> strategies,
            MessageKeyResolver keyResolver,
            ObjectProvider<IdempotencyObserver> observers,
            OutageRegistry outages,
            DeserializerInstrumentation deserializers,
            ObjectProvider<InboxRecorderFactory> inboxes,
            ObjectProvider<KeptResults> results,
            ObjectProvider<Steps> steps,
            TopicLookup topics,
            IdempotencyProperties properties) {
        ListenerDefaults defaults = new ListenerDefaults(
                store,
                strategies.getIfAvailable(),
                keyResolver,
                properties.key().onMissing(),
                properties.retention(),
                properties.conflicts(),
                deserializers,
                observers.orderedStream().toList(),
                outages,
                inboxes.getIfAvailable(),
                results.getIfAvailable(),
                steps.getIfAvailable(),
                properties.transactionPerPoll(),
                properties.claim().atCommit());
        return new ListenerDefinitionRegistry(beanFactory, defaults, topics);
    }

    @Bean
    @ConditionalOnMissingBean
    MessageKeyResolver messageKeyResolver(IdempotencyProperties properties) {
        return new HeaderKeyResolver(properties.key().headers());
    }

    @Bean
    StoreWatch idempotencyStoreWatch(
            ProcessedMessageStore store,
            ObjectProvider<JdbcStrategyFactory> strategies,
            ObjectProvider<ConsumerRegistry> consumers,
            IdempotencyProperties properties) {
        ConsumerRegistry all = ConsumerRegistry.of(consumers::stream);
        return new StoreWatch(
                () -> statistics(store, strategies.getIfAvailable(), all),
                properties.observe().storeInterval());
    }

    /** Of the tables that have a consumer. */
    private static StoreStatistics statistics(
            ProcessedMessageStore store, @Nullable JdbcStrategyFactory strategies, ConsumerRegistry consumers) {
        Set<String> versioned = consumers.recognisedBy(Strategy.VERSION).names();
        StoreStatistics processed = store.statistics(consumers.names());
        return (strategies != null && !versioned.isEmpty())
                ? processed.plus(strategies.versions().statistics(versioned))
                : processed;
    }

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
            ObjectProvider<Steps> steps,
            ListableBeanFactory beanFactory) {
        return new TransactionalOperations(
                store, consumers, results.getIfAvailable(), steps.getIfAvailable(), beanFactory);
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

    /** Sees to it that infrastructure advisors are applied, with whichever proxy creator the application has. */
    static final class AutoProxyCreatorRegistrar implements ImportBeanDefinitionRegistrar {

        @Override
        public void registerBeanDefinitions(AnnotationMetadata importingClass, BeanDefinitionRegistry registry) {
            AopConfigUtils.registerAutoProxyCreatorIfNecessary(registry);
        }
    }
}
