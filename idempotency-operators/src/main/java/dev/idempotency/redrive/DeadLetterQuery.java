package dev.idempotency.redrive;

import dev.idempotency.job.Page;
import org.jspecify.annotations.Nullable;

/**
 * A query for dead letters of a consumer; {@code null} means any.
 *
 * @param after {@link Page#next()} of the page before; {@code null} for the first page
 * @param size how many there are on a page, up to {@value Page#MAX_SIZE}
 */
public record DeadLetterQuery(
        String consumer,
        @Nullable DeadLetterStatus status,
        @Nullable ExceptionPattern exception,
        @Nullable String after,
        int size) {

    public DeadLetterQuery {
        Page.requireSize(size);
    }

    /** The first dead letters of a consumer. */
    public static DeadLetterQuery of(String consumer) {
        return new DeadLetterQuery(consumer, null, null, null, Page.DEFAULT_SIZE);
    }

    public DeadLetterQuery withStatus(DeadLetterStatus wanted) {
        return new DeadLetterQuery(this.consumer, wanted, this.exception, this.after, this.size);
    }

    public DeadLetterQuery withException(ExceptionPattern wanted) {
        return new DeadLetterQuery(this.consumer, this.status, wanted, this.after, this.size);
    }

    /** Continues after a page, with its {@link Page#next()}. */
    public DeadLetterQuery withAfter(@Nullable String next) {
        return new DeadLetterQuery(this.consumer, this.status, this.exception, next, this.size);
    }

    public DeadLetterQuery withSize(int wanted) {
        return new DeadLetterQuery(this.consumer, this.status, this.exception, this.after, wanted);
    }

    public boolean matches(DeadLetter letter) {
        return (this.status == null || this.status == letter.status())
                && (this.exception == null || this.exception.matches(letter.exception()));
    }
}
