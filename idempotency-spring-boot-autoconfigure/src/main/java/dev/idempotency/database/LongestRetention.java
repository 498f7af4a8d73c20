package dev.idempotency.database;

import java.time.Duration;

/** The bound of what is remembered: beyond it databases and meters cannot count back. */
public final class LongestRetention {

    private static final Duration LONGEST = Duration.ofDays(36_500);

    private LongestRetention() {}

    /**
     * Returns the duration.
     *
     * @throws IllegalArgumentException if it is too long
     */
    public static Duration require(String name, Duration duration) {
        if (duration.compareTo(LONGEST) > 0) {
            throw new IllegalArgumentException(
                    "%s must be at most %dd, but is %dd".formatted(name, LONGEST.toDays(), duration.toDays()));
        }
        return duration;
    }
}
