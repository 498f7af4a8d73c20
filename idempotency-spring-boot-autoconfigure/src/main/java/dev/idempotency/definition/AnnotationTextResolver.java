package dev.idempotency.definition;

import dev.idempotency.definition.ListenerFault.Kind;
import org.springframework.beans.factory.config.ConfigurableBeanFactory;

/** Resolves placeholders in the texts of {@code @IdempotentListener}. */
final class AnnotationTextResolver {

    private final ConfigurableBeanFactory beanFactory;

    AnnotationTextResolver(ConfigurableBeanFactory beanFactory) {
        this.beanFactory = beanFactory;
    }

    /** The text, or a fault of that kind if it has a placeholder for which there is no property. */
    String resolve(String value, Kind kind) {
        try {
            String resolved = this.beanFactory.resolveEmbeddedValue(value);
            return (resolved != null) ? resolved : "";
        } catch (IllegalArgumentException ex) {
            throw ListenerFaultCollector.found(
                    kind, ex.getMessage() + ".", "Set the property, or mend the placeholder in @IdempotentListener.");
        }
    }
}
