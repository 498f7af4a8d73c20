package dev.idempotency.autoconfigure;

import dev.idempotency.IdempotencyConfigurationException;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;

/** Reports an {@link IdempotencyConfigurationException} without a stack trace. */
final class ConfigurationFailureAnalyzer extends AbstractFailureAnalyzer<IdempotencyConfigurationException> {

    @Override
    protected FailureAnalysis analyze(@Nullable Throwable rootFailure, IdempotencyConfigurationException cause) {
        return new FailureAnalysis(cause.getMessage(), cause.action(), cause);
    }
}
