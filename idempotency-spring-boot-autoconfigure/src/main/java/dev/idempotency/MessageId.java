package dev.idempotency;

/**
 * The identity of a message for one consumer: what is recorded once, and only once.
 *
 * @param consumer the consumer's name, at most {@value #MAX_CONSUMER_LENGTH} characters
 * @param value the message's id as it is stored, at most {@value #MAX_VALUE_LENGTH} characters
 */
public record MessageId(String consumer, String value) {

    /** The longest name of a consumer. */
    public static final int MAX_CONSUMER_LENGTH = 200;

    /** The longest id that is stored as it is. */
    public static final int MAX_VALUE_LENGTH = 255;

    public MessageId {
        requireLength("consumer", consumer, MAX_CONSUMER_LENGTH);
        requireLength("message id", value, MAX_VALUE_LENGTH);
    }

    private static void requireLength(String what, String text, int max) {
        if (text.isBlank() || text.length() > max) {
            throw new IllegalArgumentException(
                    "The %s must have 1 to %d characters, but has %d: '%s'".formatted(what, max, text.length(), text));
        }
    }

    @Override
    public String toString() {
        return this.consumer + ":" + this.value;
    }
}
