package dev.idempotency.failure;

/**
 * How failures are handled, where the application has no error handler of its own.
 *
 * @param retries the pauses between attempts at a message that fails
 * @param maxAttempts how often such a message is delivered before it is dead-lettered
 * @param outages the pauses between attempts while the database is away; these hold for every error handler
 * @param deadLetterEnabled whether such a message is dead-lettered at all
 * @param deadLetterSuffix what is appended to a topic's name to get that of its dead-letter topic
 */
public record FailureSettings(
        BackOffSettings retries,
        int maxAttempts,
        BackOffSettings outages,
        boolean deadLetterEnabled,
        String deadLetterSuffix) {

    public FailureSettings {
        if (maxAttempts < 1) {
            throw new IllegalArgumentException("The number of attempts must be 1 or more, but is " + maxAttempts);
        }
        if (deadLetterSuffix.isBlank()) {
            throw new IllegalArgumentException(
                    "The suffix of dead-letter topics must not be blank: dead letters would go to the topic they come from");
        }
    }
}
