package dev.idempotency.internal.definition;

import dev.idempotency.OnConflict;
import dev.idempotency.StartupCheck;
import java.util.Map;
import java.util.TreeSet;
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

    /** Resolves one of several words, or returns the default for a blank text. */
    <T> T resolve(String value, Map<String, T> words, T byDefault, StartupCheck check) {
        String resolved = resolve(value, check);
        T meaning = resolved.isEmpty() ? byDefault : words.get(resolved);
        if (meaning == null) {
            throw ListenerFault.found(
                    check,
                    "'%s' is none of %s.".formatted(resolved, new TreeSet<>(words.keySet())),
                    "Write one of these, or leave it out.");
        }
        return meaning;
    }

    boolean resolveFlag(String value, boolean byDefault, StartupCheck check) {
        return resolve(value, Map.of("true", true, "false", false), byDefault, check);
    }

    OnConflict resolveConflict(String value, OnConflict byDefault) {
        Map<String, OnConflict> words = Map.of("warn", OnConflict.WARN, "fail", OnConflict.FAIL, "off", OnConflict.OFF);
        return resolve(value, words, byDefault, StartupCheck.STRATEGY);
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
