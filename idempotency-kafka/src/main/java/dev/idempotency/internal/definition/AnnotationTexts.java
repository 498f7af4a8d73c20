package dev.idempotency.internal.definition;

import dev.idempotency.OnConflict;
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

    /** Resolves what happens to conflicts, or returns the default for a blank text. */
    OnConflict resolveConflict(String value, OnConflict byDefault) {
        String resolved = resolve(value, StartupCheck.STRATEGY);
        return switch (resolved) {
            case "" -> byDefault;
            case "warn" -> OnConflict.WARN;
            case "fail" -> OnConflict.FAIL;
            case "off" -> OnConflict.OFF;
            default ->
                throw ListenerFault.found(
                        StartupCheck.STRATEGY,
                        "onConflict = \"%s\" is neither \"warn\" nor \"fail\" nor \"off\".".formatted(resolved),
                        "Write one of these, or leave it out.");
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
