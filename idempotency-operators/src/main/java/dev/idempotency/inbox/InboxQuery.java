package dev.idempotency.inbox;

import dev.idempotency.job.Page;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * A query for messages of the {@link Inbox}; {@code null} means any.
 *
 * @param since they changed at this time or later
 * @param until they changed before this time
 * @param after {@link Page#next()} of the page before; {@code null} for the first page
 * @param size how many there are on a page, up to {@value Page#MAX_SIZE}
 */
public record InboxQuery(
        @Nullable InboxStatus status,
        @Nullable String consumer,
        @Nullable String type,
        @Nullable Instant since,
        @Nullable Instant until,
        @Nullable String after,
        int size) {

    /** The first page of all messages. */
    public static final InboxQuery ALL = new InboxQuery(null, null, null, null, null, null, Page.DEFAULT_SIZE);

    public InboxQuery {
        Page.requireSize(size);
    }

    public InboxQuery withStatus(InboxStatus wanted) {
        return new InboxQuery(wanted, this.consumer, this.type, this.since, this.until, this.after, this.size);
    }

    public InboxQuery withConsumer(String wanted) {
        return new InboxQuery(this.status, wanted, this.type, this.since, this.until, this.after, this.size);
    }

    public InboxQuery withType(String wanted) {
        return new InboxQuery(this.status, this.consumer, wanted, this.since, this.until, this.after, this.size);
    }

    public InboxQuery withTime(@Nullable Instant from, @Nullable Instant to) {
        return new InboxQuery(this.status, this.consumer, this.type, from, to, this.after, this.size);
    }

    /** Continues after a page, with its {@link Page#next()}. */
    public InboxQuery withAfter(@Nullable String next) {
        return new InboxQuery(this.status, this.consumer, this.type, this.since, this.until, next, this.size);
    }

    public InboxQuery withSize(int wanted) {
        return new InboxQuery(this.status, this.consumer, this.type, this.since, this.until, this.after, wanted);
    }
}
