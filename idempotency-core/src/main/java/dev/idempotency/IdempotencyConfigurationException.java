package dev.idempotency;

import org.jspecify.annotations.Nullable;

/** The application's configuration, class path or database has to be changed, for the application to start or a claim to work. */
@SuppressWarnings("serial")
public class IdempotencyConfigurationException extends IdempotencyException {

    private final String action;

    public IdempotencyConfigurationException(String message, String action, @Nullable Throwable cause) {
        super(message, cause);
        this.action = action;
    }

    /** Describes how to fix it, if necessary with the SQL to run. */
    public String action() {
        return this.action;
    }
}
