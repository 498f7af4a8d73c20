package dev.idempotency.redrive;

import dev.idempotency.RecordCoordinates;
import org.jspecify.annotations.Nullable;

/**
 * A query for dead letters.
 *
 * @param exception with which exception, see {@link ExceptionPattern}; {@code null} for all
 * @param after the one to continue after, as the page before says; {@code null} to begin
 */
public record DeadLetterQuery(
        String consumer,
        @Nullable DeadLetterStatus status,
        @Nullable ExceptionPattern exception,
        @Nullable RecordCoordinates after,
        int size) {

    public static final int DEFAULT_SIZE = 50;
    public static final int MAX_SIZE = 500;

    public DeadLetterQuery {
        if (size < 1 || size > MAX_SIZE) {
            throw new IllegalArgumentException(
                    "The size of a page must be between 1 and %d, but is %d".formatted(MAX_SIZE, size));
        }
    }

    /** The first dead letters of a consumer. */
    public static DeadLetterQuery of(String consumer) {
        return new DeadLetterQuery(consumer, null, null, null, DEFAULT_SIZE);
    }

    public DeadLetterQuery withStatus(DeadLetterStatus wanted) {
        return new DeadLetterQuery(this.consumer, wanted, this.exception, this.after, this.size);
    }

    public DeadLetterQuery withException(ExceptionPattern wanted) {
        return new DeadLetterQuery(this.consumer, this.status, wanted, this.after, this.size);
    }

    /** Continues after a dead letter, as the page before says. */
    public DeadLetterQuery withPage(@Nullable RecordCoordinates previous, int length) {
        return new DeadLetterQuery(this.consumer, this.status, this.exception, previous, length);
    }

    public boolean matches(DeadLetter letter) {
        return (this.status == null || this.status == letter.status())
                && (this.exception == null || this.exception.matches(letter.exception()));
    }
}
