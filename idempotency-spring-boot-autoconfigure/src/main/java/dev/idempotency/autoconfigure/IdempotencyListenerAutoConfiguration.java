package dev.idempotency.autoconfigure;

import dev.idempotency.IdempotentListener;
import dev.idempotency.event.IdempotencyEventListener;
import dev.idempotency.failure.DatabaseFailureClassifier;
import dev.idempotency.failure.FailureClassifier;
import dev.idempotency.internal.database.IdempotencyDatabase;
import dev.idempotency.internal.dedup.JdbcStrategyFactory;
import dev.idempotency.internal.definition.InboxRecorder;
import dev.idempotency.internal.definition.ListenerDefaults;
import dev.idempotency.internal.definition.ListenerDefinitionRegistry;
import dev.idempotency.internal.failure.ErrorHandlerInstaller;
import dev.idempotency.internal.failure.OutageRegistry;
import dev.idempotency.internal.kafka.DeserializerInstrumentation;
import dev.idempotency.internal.kafka.TopicLookup;
import dev.idempotency.internal.key.HeaderKeyResolver;
import dev.idempotency.internal.listener.IdempotentListenerAdvisor;
import dev.idempotency.internal.listener.IdempotentListenerEnhancer;
import dev.idempotency.internal.listener.ListenerContainerConfigurer;
import dev.idempotency.internal.result.ResultStore;
import dev.idempotency.internal.result.Steps;
import dev.idempotency.internal.store.BusinessKeyLocks;
import dev.idempotency.internal.store.JdbcPositionStore;
import dev.idempotency.internal.store.JdbcVersionStore;
import dev.idempotency.key.MessageKeyResolver;
import dev.idempotency.store.ProcessedMessageStore;
import org.springframework.aop.config.AopConfigUtils;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.beans.factory.config.NamedBeanHolder;
import org.springframework.beans.factory.support.BeanDefinitionRegistry;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;
import org.springframework.context.annotation.ImportBeanDefinitionRegistrar;
import org.springframework.context.annotation.Role;
import org.springframework.core.env.Environment;
import org.springframework.core.type.AnnotationMetadata;
import org.springframework.kafka.annotation.KafkaListener;
import org.springframework.kafka.core.ProducerFactory;
import org.springframework.kafka.retrytopic.DestinationTopicResolver;

/** Auto-configuration for {@link IdempotentListener @IdempotentListener}: interceptor, containers, and failures. */
@AutoConfiguration(
        after = IdempotencyAutoConfiguration.class,
        afterName = "org.springframework.boot.kafka.autoconfigure.KafkaAutoConfiguration")
@ConditionalOnProperty(name = "idempotency.enabled", matchIfMissing = true)
@ConditionalOnClass({KafkaListener.class, ListenerDefinitionRegistry.class})
@ConditionalOnBean(ProcessedMessageStore.class)
@EnableConfigurationProperties({IdempotencyProperties.class, ErrorsProperties.class})
@Import(IdempotencyListenerAutoConfiguration.AutoProxyCreatorRegistrar.class)
public final class IdempotencyListenerAutoConfiguration {

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
            ErrorHandlerInstaller errorHandlers) {
        return new ListenerContainerConfigurer(definitions, retryTopics, errorHandlers);
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
            ObjectProvider<IdempotencyEventListener> observers,
            OutageRegistry outages,
            DeserializerInstrumentation deserializers,
            ObjectProvider<InboxRecorder.Factory> inboxes,
            ObjectProvider<ResultStore> results,
            ObjectProvider<BusinessKeyLocks> locks,
            ObjectProvider<Steps> steps,
            TopicLookup topics,
            IdempotencyProperties properties) {
        ListenerDefaults defaults = new ListenerDefaults(
                store,
                strategies.getIfAvailable(),
                keyResolver,
                properties.key().onMissing(),
                properties.retention(),
                properties.onConflict(),
                deserializers,
                observers.orderedStream().toList(),
                outages,
                inboxes.getIfAvailable(),
                properties.inbox().enabled(),
                results.getIfAvailable(),
                locks.getIfAvailable(),
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
    @ConditionalOnBean({IdempotencyDatabase.class, JdbcPositionStore.class})
    JdbcStrategyFactory idempotencyStrategyFactory(
            IdempotencyDatabase database,
            JdbcPositionStore positions,
            JdbcVersionStore versions,
            IdempotencyProperties properties) {
        return new JdbcStrategyFactory(database, properties.claim().timeout(), positions, versions);
    }

    @Bean
    @ConditionalOnMissingBean
    FailureClassifier idempotencyFailureClassifier() {
        return new DatabaseFailureClassifier();
    }

    @Bean
    OutageRegistry idempotencyOutageRegistry(
            ConfigurableListableBeanFactory beanFactory, ErrorsProperties properties, ProcessedMessageStore store) {
        NamedBeanHolder<FailureClassifier> classifier = beanFactory.resolveNamedBean(FailureClassifier.class);
        return new OutageRegistry(
                classifier.getBeanName(), classifier.getBeanInstance(), properties.outages(), store::takesWrites);
    }

    @Bean
    DeserializerInstrumentation idempotencyDeserializerInstrumentation() {
        return new DeserializerInstrumentation();
    }

    @Bean
    ErrorHandlerInstaller idempotencyErrorHandlerInstaller(
            ErrorsProperties errors,
            IdempotencyProperties properties,
            OutageRegistry outages,
            DeserializerInstrumentation deserializers,
            ObjectProvider<ProducerFactory<?, ?>> producerFactory,
            Environment environment) {
        return new ErrorHandlerInstaller(
                errors.retries(),
                properties.deadLetters().suffixIfEnabled(),
                outages,
                deserializers,
                producerFactory::getIfUnique,
                environment.getProperty("spring.application.name"));
    }

    /** Sees to it that infrastructure advisors are applied, with whichever proxy creator the application has. */
    static final class AutoProxyCreatorRegistrar implements ImportBeanDefinitionRegistrar {

        @Override
        public void registerBeanDefinitions(AnnotationMetadata importingClass, BeanDefinitionRegistry registry) {
            AopConfigUtils.registerAutoProxyCreatorIfNecessary(registry);
        }
    }
}
