package dev.idempotency.store;

import java.time.Duration;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * How much a store remembers, at a price that is paid once a minute without being noticed.
 *
 * @param rows how many messages, estimated; {@code null} if that is not known
 * @param oldestAges how long ago the oldest message was processed, by consumer; without consumers that have none
 */
public record StoreStatistics(@Nullable Long rows, Map<String, Duration> oldestAges) {

    /** Nothing is known. */
    public static final StoreStatistics UNKNOWN = new StoreStatistics(null, Map.of());

    public StoreStatistics {
        oldestAges = Map.copyOf(oldestAges);
    }
}
