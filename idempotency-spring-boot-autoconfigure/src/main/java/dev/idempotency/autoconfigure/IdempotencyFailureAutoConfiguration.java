package dev.idempotency.autoconfigure;

import dev.idempotency.failure.DatabaseFailureClassifier;
import dev.idempotency.failure.ErrorHandlerInstaller;
import dev.idempotency.failure.FailureClassifier;
import dev.idempotency.failure.OutageRegistry;
import dev.idempotency.kafka.DeserializerInstrumentation;
import dev.idempotency.store.ProcessedMessageStore;
import java.util.Map;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.kafka.autoconfigure.KafkaAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.core.env.Environment;
import org.springframework.kafka.core.ProducerFactory;

/** Auto-configuration for what becomes of messages that fail. */
@AutoConfiguration(
        after = {IdempotencyStoreAutoConfiguration.class, KafkaAutoConfiguration.class},
        before = IdempotencyAutoConfiguration.class)
@ConditionalOnProperty(name = "idempotency.enabled", matchIfMissing = true)
@ConditionalOnBean(ProcessedMessageStore.class)
@EnableConfigurationProperties(ErrorsProperties.class)
public final class IdempotencyFailureAutoConfiguration {

    @Bean
    @ConditionalOnMissingBean
    FailureClassifier idempotencyFailureClassifier() {
        return new DatabaseFailureClassifier();
    }

    @Bean
    OutageRegistry idempotencyOutages(
            FailureClassifier classifier,
            ErrorsProperties properties,
            ListableBeanFactory beanFactory,
            ProcessedMessageStore store) {
        return new OutageRegistry(
                nameOf(classifier, beanFactory), classifier, properties.settings(), store::takesWrites);
    }

    private static String nameOf(FailureClassifier classifier, ListableBeanFactory beanFactory) {
        return beanFactory.getBeansOfType(FailureClassifier.class, false, false).entrySet().stream()
                .filter(bean -> bean.getValue() == classifier)
                .map(Map.Entry::getKey)
                .findFirst()
                .orElse("failureClassifier");
    }

    @Bean
    DeserializerInstrumentation idempotencyReceivedBytes() {
        return new DeserializerInstrumentation();
    }

    @Bean
    ErrorHandlerInstaller idempotencyFailureHandling(
            ErrorsProperties properties,
            OutageRegistry outages,
            DeserializerInstrumentation receivedBytes,
            ObjectProvider<ProducerFactory<?, ?>> producerFactory,
            Environment environment) {
        return new ErrorHandlerInstaller(
                properties.settings(),
                outages,
                receivedBytes,
                producerFactory::getIfUnique,
                environment.getProperty("spring.application.name"));
    }
}
