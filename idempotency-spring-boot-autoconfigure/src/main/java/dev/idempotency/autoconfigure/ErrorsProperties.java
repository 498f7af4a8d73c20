package dev.idempotency.autoconfigure;

import dev.idempotency.internal.failure.BackOffSettings;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * Settings under {@code idempotency.errors}: what becomes of messages that fail.
 *
 * @param initialInterval pause before a message that failed is delivered again; each further pause is twice as long
 * @param maxInterval the longest pause
 * @param maxAttempts how often a message is delivered before it is dead-lettered
 */
@ConfigurationProperties("idempotency.errors")
record ErrorsProperties(
        @DefaultValue("500ms") Duration initialInterval,
        @DefaultValue("10s") Duration maxInterval,
        @DefaultValue("6") int maxAttempts,
        @DefaultValue Outage outage) {

    private static final Duration OUTAGE_INITIAL_INTERVAL = Duration.ofMillis(100);

    ErrorsProperties {
        if (maxAttempts < 1) {
            throw new IllegalArgumentException(
                    "idempotency.errors.max-attempts must be 1 or more, but is " + maxAttempts);
        }
    }

    BackOffSettings retries() {
        return settings("idempotency.errors", this.initialInterval, this.maxInterval);
    }

    BackOffSettings outages() {
        Duration longest = this.outage.maxInterval();
        return settings(
                "idempotency.errors.outage", Collections.min(List.of(longest, OUTAGE_INITIAL_INTERVAL)), longest);
    }

    private BackOffSettings settings(String name, Duration initial, Duration longest) {
        try {
            return new BackOffSettings(initial, longest, this.maxAttempts);
        } catch (IllegalArgumentException ex) {
            throw new IllegalArgumentException(name + ": " + ex.getMessage());
        }
    }

    /**
     * How the database is waited for, with any error handler.
     *
     * @param maxInterval the longest pause
     */
    public record Outage(@DefaultValue("5s") Duration maxInterval) {}
}
