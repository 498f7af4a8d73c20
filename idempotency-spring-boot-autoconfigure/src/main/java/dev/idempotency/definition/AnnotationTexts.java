package dev.idempotency.definition;

import dev.idempotency.StartupCheck;
import org.springframework.beans.factory.config.ConfigurableBeanFactory;

/** Resolves the placeholders in the texts of annotations. */
record AnnotationTexts(ConfigurableBeanFactory beanFactory) {

    /** Resolves a text; a placeholder without a value is a fault of the check's. */
    String resolve(String value, StartupCheck check) {
        try {
            String resolved = this.beanFactory.resolveEmbeddedValue(value);
            return (resolved != null) ? resolved : "";
        } catch (IllegalArgumentException ex) {
            throw ListenerFault.found(
                    check,
                    ex.getMessage() + ".",
                    "Set the property, or correct the placeholder in @IdempotentListener.");
        }
    }

    /** Resolves {@code true} or {@code false}, or returns the default for a blank text. */
    boolean resolveFlag(String value, boolean byDefault, StartupCheck check) {
        String resolved = resolve(value, check);
        return switch (resolved) {
            case "" -> byDefault;
            case "true" -> true;
            case "false" -> false;
            default ->
                throw ListenerFault.found(
                        check,
                        "'%s' is neither true nor false.".formatted(resolved),
                        "Write \"true\" or \"false\", or leave it out.");
        };
    }

    /** Resolves a text, or returns it unchanged where that is a fault, which is reported elsewhere. */
    String resolveIfPossible(String value) {
        try {
            return resolve(value, StartupCheck.STRATEGY);
        } catch (ListenerFault.Found ex) {
            return value;
        }
    }
}
