package dev.idempotency.internal.database;

import java.time.Duration;

/** The longest duration that databases, meters and clocks can count with. */
public final class RetentionLimit {

    private static final Duration LONGEST = Duration.ofDays(36_500);

    private RetentionLimit() {}

    /** Returns the duration unless it is too long. */
    public static Duration require(String name, Duration duration) {
        if (duration.compareTo(LONGEST) > 0) {
            throw new IllegalArgumentException(
                    "%s must be at most %dd, but is %dd".formatted(name, LONGEST.toDays(), duration.toDays()));
        }
        return duration;
    }
}
