package dev.idempotency.autoconfigure;

import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * Settings under {@code idempotency.dead-letters}: how dead letters are sent back.
 *
 * @param maxRedrives how often a message is sent back from its dead-letter topic before it stays there
 * @param redrivesPerSecond how many dead letters are sent back per second at most
 */
@ConfigurationProperties("idempotency.dead-letters")
public record DeadLetterProperties(
        @DefaultValue("3") int maxRedrives,
        @DefaultValue("100") int redrivesPerSecond) {

    public DeadLetterProperties {
        if (maxRedrives < 1) {
            throw new IllegalArgumentException(
                    "idempotency.dead-letters.max-redrives must be at least 1, but is " + maxRedrives);
        }
        if (redrivesPerSecond < 1) {
            throw new IllegalArgumentException(
                    "idempotency.dead-letters.redrives-per-second must be at least 1, but is " + redrivesPerSecond);
        }
    }
}
