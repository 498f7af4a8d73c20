package dev.idempotency.definition;

import dev.idempotency.observe.Conflict;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Warns of the messages of one consumer that were dropped though they are no duplicates: once a minute. */
final class ConflictWarnings {

    private static final Logger logger = LoggerFactory.getLogger(ConflictWarnings.class);

    private static final long INTERVAL = TimeUnit.MINUTES.toNanos(1);

    private final String consumer;
    private final LongSupplier clock;
    private final AtomicLong unsaid = new AtomicLong();
    private final AtomicLong next;

    ConflictWarnings(String consumer) {
        this(consumer, System::nanoTime);
    }

    /** {@code clock} counts nanoseconds. */
    ConflictWarnings(String consumer, LongSupplier clock) {
        this.consumer = consumer;
        this.clock = clock;
        this.next = new AtomicLong(clock.getAsLong());
    }

    void dropped(Conflict conflict) {
        long now = this.clock.getAsLong();
        long due = this.next.get();
        if (now - due < 0 || !this.next.compareAndSet(due, now + INTERVAL)) {
            this.unsaid.incrementAndGet();
            return;
        }
        logger.warn(
                "Consumer '{}' dropped {} as a duplicate of {}: it has the same id, '{}', but another payload, so that it may"
                        + " be another message, which was not applied.{} Let the producer give each message an id of its"
                        + " own, or name what tells them apart in @IdempotentListener(key = …). With"
                        + " idempotency.conflicts=fail such messages are dead-lettered; set it to 'off' where the payload of"
                        + " one message changes each time it is sent. The next warning comes in a minute at the earliest.",
                this.consumer,
                conflict.coordinates(),
                conflict.original(),
                conflict.id().value().replaceAll("\\p{Cntrl}", "?"),
                others(this.unsaid.getAndSet(0)));
    }

    private static String others(long count) {
        return (count > 0) ? " So were " + count + " more since the last warning." : "";
    }
}
