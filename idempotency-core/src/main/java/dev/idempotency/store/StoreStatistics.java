package dev.idempotency.store;

import java.time.Duration;
import java.util.HashMap;
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

    /** Adds the statistics of another table, whose ages take precedence. */
    public StoreStatistics plus(StoreStatistics other) {
        Map<String, Duration> ages = new HashMap<>(this.oldestAges);
        ages.putAll(other.oldestAges);
        boolean known = this.rows != null && other.rows != null;
        return new StoreStatistics(known ? Long.valueOf(this.rows + other.rows) : null, ages);
    }
}
