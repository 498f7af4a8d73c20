package dev.idempotency.actuate;

import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * All consumers, the store and the cleanup.
 *
 * @param since since when this instance counts
 * @param consumers the consumers
 * @param store the store
 * @param cleanup the cleanup
 */
record IdempotencyReport(Instant since, List<ConsumerReport> consumers, StoreReport store, CleanupReport cleanup) {

    /**
     * The store.
     *
     * @param rows how many messages it remembers, estimated; absent if that is not known
     */
    record StoreReport(@Nullable Long rows) {}
}
