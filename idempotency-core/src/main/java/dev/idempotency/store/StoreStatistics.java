package dev.idempotency.store;

import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * How much a store remembers, at a price that is paid once a minute without being noticed.
 *
 * @param rows how many messages, estimated; {@code null} if that is not known
 * @param oldestAges how long ago the oldest message was processed, by consumer; without consumers that have none
 * @param slots the slots of a ring; none if there is no ring
 */
public record StoreStatistics(@Nullable Long rows, Map<String, Duration> oldestAges, List<Slot> slots) {

    /** Nothing is known. */
    public static final StoreStatistics UNKNOWN = new StoreStatistics(null, Map.of());

    /** Statistics without a ring. */
    public StoreStatistics(@Nullable Long rows, Map<String, Duration> oldestAges) {
        this(rows, oldestAges, List.of());
    }

    /**
     * A slot of a ring.
     *
     * @param number its number, from zero
     * @param rows how many messages, estimated
     * @param age how long ago its first message was processed; {@code null} if it is empty
     */
    public record Slot(int number, long rows, @Nullable Duration age) {}

    public StoreStatistics {
        slots = List.copyOf(slots);
        oldestAges = Map.copyOf(oldestAges);
    }

    /** Adds the statistics of another table, whose ages take precedence. */
    public StoreStatistics plus(StoreStatistics other) {
        Map<String, Duration> ages = new HashMap<>(this.oldestAges);
        ages.putAll(other.oldestAges);
        boolean known = this.rows != null && other.rows != null;
        return new StoreStatistics(known ? Long.valueOf(this.rows + other.rows) : null, ages, this.slots);
    }
}
