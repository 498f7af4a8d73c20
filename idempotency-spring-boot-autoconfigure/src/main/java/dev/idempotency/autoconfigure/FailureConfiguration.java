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
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.env.Environment;
import org.springframework.kafka.core.ProducerFactory;

/** Error handling. */
@Configuration(proxyBeanMethods = false)
@EnableConfigurationProperties(ErrorsProperties.class)
final class FailureConfiguration {

    @Bean
    @ConditionalOnMissingBean
    FailureClassifier idempotencyFailureClassifier() {
        return new DatabaseFailureClassifier();
    }

    @Bean
    OutageRegistry idempotencyOutageRegistry(
            FailureClassifier classifier,
            ErrorsProperties properties,
            ListableBeanFactory beanFactory,
            ProcessedMessageStore store) {
        return new OutageRegistry(
                nameOf(classifier, beanFactory), classifier, properties.outages(), store::takesWrites);
    }

    private static String nameOf(FailureClassifier classifier, ListableBeanFactory beanFactory) {
        return beanFactory.getBeansOfType(FailureClassifier.class, false, false).entrySet().stream()
                .filter(bean -> bean.getValue() == classifier)
                .map(Map.Entry::getKey)
                .findFirst()
                .orElse("failureClassifier");
    }

    @Bean
    DeserializerInstrumentation idempotencyDeserializerInstrumentation() {
        return new DeserializerInstrumentation();
    }

    @Bean
    ErrorHandlerInstaller idempotencyErrorHandlerInstaller(
            ErrorsProperties properties,
            OutageRegistry outages,
            DeserializerInstrumentation deserializers,
            ObjectProvider<ProducerFactory<?, ?>> producerFactory,
            Environment environment) {
        return new ErrorHandlerInstaller(
                properties.retries(),
                properties.deadLetter().enabled() ? properties.deadLetter().suffix() : null,
                outages,
                deserializers,
                producerFactory::getIfUnique,
                environment.getProperty("spring.application.name"));
    }
}
