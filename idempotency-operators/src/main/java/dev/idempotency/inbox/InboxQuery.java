package dev.idempotency.inbox;

import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * A query for messages of the inbox; {@code null} means any. Pages have the latest change first.
 *
 * @param since they changed at this time or later
 * @param until they changed before this time
 * @param page which page, from 0, of the first {@value #MAX_REACH} messages: the database counts through all before it
 * @param size how many there are on a page, up to {@value #MAX_SIZE}
 */
public record InboxQuery(
        @Nullable InboxStatus status,
        @Nullable String consumer,
        @Nullable String type,
        @Nullable Instant since,
        @Nullable Instant until,
        int page,
        int size) {

    /** The largest page. */
    public static final int MAX_SIZE = 1000;

    /** How far pages reach; a narrower question reaches what is further away. */
    public static final int MAX_REACH = 100_000;

    /** How many there are on a page, unless said otherwise. */
    public static final int DEFAULT_SIZE = 50;

    /** The first page of all messages. */
    public static final InboxQuery ALL = new InboxQuery(null, null, null, null, null, 0, DEFAULT_SIZE);

    public InboxQuery {
        if (page < 0) {
            throw new IllegalArgumentException("Pages are counted from 0, but page is " + page);
        }
        if (size < 1 || size > MAX_SIZE) {
            throw new IllegalArgumentException(
                    "A page has between 1 and %d messages, but size is %d".formatted(MAX_SIZE, size));
        }
        if ((page + 1L) * size > MAX_REACH) {
            throw new IllegalArgumentException(
                    ("Pages reach no further than %d messages, but page is %d, with %d on each."
                                    + " Narrow the question, such as by a time until which they have changed.")
                            .formatted(MAX_REACH, page, size));
        }
    }

    public InboxQuery withStatus(InboxStatus wanted) {
        return new InboxQuery(wanted, this.consumer, this.type, this.since, this.until, this.page, this.size);
    }

    public InboxQuery withConsumer(String wanted) {
        return new InboxQuery(this.status, wanted, this.type, this.since, this.until, this.page, this.size);
    }

    public InboxQuery withType(String wanted) {
        return new InboxQuery(this.status, this.consumer, wanted, this.since, this.until, this.page, this.size);
    }

    public InboxQuery withTime(@Nullable Instant from, @Nullable Instant to) {
        return new InboxQuery(this.status, this.consumer, this.type, from, to, this.page, this.size);
    }

    public InboxQuery withPage(int number, int length) {
        return new InboxQuery(this.status, this.consumer, this.type, this.since, this.until, number, length);
    }
}
