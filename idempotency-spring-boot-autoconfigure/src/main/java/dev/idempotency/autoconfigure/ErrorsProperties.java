package dev.idempotency.autoconfigure;

import dev.idempotency.failure.BackOffSettings;
import java.time.Duration;
import java.util.regex.Pattern;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * Settings under {@code idempotency.errors}: what becomes of messages that fail.
 *
 * @param initialInterval pause before a message that failed is delivered again; each further pause is twice as long
 * @param maxInterval the longest pause
 * @param maxAttempts how often a message is delivered before it is dead-lettered
 * @param deadLetter what happens to it then
 * @param outage how the database is waited for
 */
@ConfigurationProperties("idempotency.errors")
public record ErrorsProperties(
        @DefaultValue("500ms") Duration initialInterval,
        @DefaultValue("10s") Duration maxInterval,
        @DefaultValue("6") int maxAttempts,
        @DefaultValue DeadLetter deadLetter,
        @DefaultValue Outage outage) {

    private static final Duration OUTAGE_INITIAL_INTERVAL = Duration.ofMillis(100);

    public ErrorsProperties {
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
                "idempotency.errors.outage",
                (longest.compareTo(OUTAGE_INITIAL_INTERVAL) < 0) ? longest : OUTAGE_INITIAL_INTERVAL,
                longest);
    }

    private BackOffSettings settings(String name, Duration initial, Duration longest) {
        try {
            return new BackOffSettings(initial, longest, this.maxAttempts);
        } catch (IllegalArgumentException ex) {
            throw new IllegalArgumentException(name + ": " + ex.getMessage());
        }
    }

    /**
     * Dead letters.
     *
     * @param enabled whether they are published to a dead-letter topic; if not, they are retried until they succeed
     * @param suffix appended to a topic's name for the name of its dead-letter topic
     */
    public record DeadLetter(
            @DefaultValue("true") boolean enabled,
            @DefaultValue("-dlt") String suffix) {

        private static final Pattern PART_OF_A_TOPICS_NAME = Pattern.compile("[a-zA-Z0-9._-]+");

        public DeadLetter {
            if (suffix.isBlank()) {
                throw new IllegalArgumentException(
                        "idempotency.errors.dead-letter.suffix must not be blank: dead letters would go to the topic they come from");
            }
            if (!PART_OF_A_TOPICS_NAME.matcher(suffix).matches()) {
                throw new IllegalArgumentException(
                        "idempotency.errors.dead-letter.suffix must consist of what the names of topics may: letters, digits, '.', '_' and '-', but is '%s'"
                                .formatted(suffix));
            }
        }
    }

    /**
     * How the database is waited for, with any error handler.
     *
     * @param maxInterval the longest pause
     */
    public record Outage(@DefaultValue("5s") Duration maxInterval) {}
}
