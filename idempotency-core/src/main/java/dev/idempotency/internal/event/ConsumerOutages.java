package dev.idempotency.internal.event;

import dev.idempotency.ConsumerWaitingException.Awaited;
import java.time.Instant;
import java.util.List;

/** The consumers of this instance that wait. */
@FunctionalInterface
public interface ConsumerOutages {

    /** A consumer that waits, as a whole or with some of its partitions. */
    record ConsumerOutage(String consumer, Instant since, String cause, Awaited awaited) {}

    /** Those that wait now. */
    List<ConsumerOutage> current();
}
