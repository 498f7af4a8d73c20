package dev.idempotency.actuate;

import dev.idempotency.retention.LastCleanup;
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
public record IdempotencyReport(
        Instant since, List<ConsumerReport> consumers, StoreReport store, CleanupReport cleanup) {

    /**
     * The store.
     *
     * @param rows how many messages it remembers, estimated; absent if that is not known
     */
    public record StoreReport(@Nullable Long rows) {}

    /**
     * The cleanup of this instance.
     *
     * @param lastRun the last run that went to its end, if there was one
     * @param failure the last failure, if no run has gone to its end since
     */
    public record CleanupReport(LastCleanup.@Nullable Run lastRun, LastCleanup.@Nullable Failure failure) {

        static CleanupReport of(LastCleanup cleanup) {
            return new CleanupReport(cleanup.run(), cleanup.failure());
        }
    }
}
