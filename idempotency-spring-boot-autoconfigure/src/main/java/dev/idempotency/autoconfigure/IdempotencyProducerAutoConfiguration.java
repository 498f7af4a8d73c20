package dev.idempotency.autoconfigure;

import dev.idempotency.internal.producer.KafkaTemplatePostProcessor;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Condition;
import org.springframework.context.annotation.ConditionContext;
import org.springframework.context.annotation.Conditional;
import org.springframework.context.annotation.Role;
import org.springframework.core.type.AnnotatedTypeMetadata;
import org.springframework.kafka.core.KafkaTemplate;

/** Auto-configuration for ids that are stamped on messages where they are made, with or without a database. */
@AutoConfiguration
@ConditionalOnProperty(name = "idempotency.enabled", matchIfMissing = true)
@ConditionalOnClass({KafkaTemplate.class, KafkaTemplatePostProcessor.class})
@Conditional(IdempotencyProducerAutoConfiguration.OnStampIds.class)
@EnableConfigurationProperties(IdempotencyProperties.class)
public final class IdempotencyProducerAutoConfiguration {

    @Bean
    @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
    static KafkaTemplatePostProcessor idempotencyKafkaTemplatePostProcessor(
            ObjectProvider<IdempotencyProperties> properties) {
        return new KafkaTemplatePostProcessor(() -> properties.getObject().key().headers());
    }

    /** Reads the property as it is bound, so that {@code yes} is no other answer here than there, and no text is none. */
    static final class OnStampIds implements Condition {

        @Override
        public boolean matches(ConditionContext context, AnnotatedTypeMetadata metadata) {
            return Binder.get(context.getEnvironment())
                    .bind("idempotency.producer.stamp-ids", Boolean.class)
                    .orElse(false);
        }
    }
}
