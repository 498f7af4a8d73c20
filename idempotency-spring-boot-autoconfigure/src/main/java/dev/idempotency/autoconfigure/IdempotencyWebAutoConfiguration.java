package dev.idempotency.autoconfigure;

import dev.idempotency.IdempotentOperations;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.context.annotation.Bean;
import org.springframework.web.bind.annotation.RestControllerAdvice;

/** Auto-configuration for the answers of controllers that use {@link IdempotentOperations}. */
@AutoConfiguration(after = IdempotencyAutoConfiguration.class)
@ConditionalOnClass(RestControllerAdvice.class)
@ConditionalOnProperty(name = "idempotency.web.problem-details", havingValue = "true")
public final class IdempotencyWebAutoConfiguration {

    @Bean
    IdempotencyExceptionHandler idempotencyExceptionHandler() {
        return new IdempotencyExceptionHandler();
    }
}
