package dev.idempotency.autoconfigure;

import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.convert.DurationStyle;

/** A positive duration such as {@code 30d}, or {@code -} for never. */
public final class DurationOrNever {

    private static final String NEVER = "-";

    private final @Nullable Duration duration;

    private DurationOrNever(@Nullable Duration duration) {
        this.duration = duration;
    }

    /** Parses a text. Spring's conversion finds this method by its name. */
    public static DurationOrNever valueOf(String text) {
        if (text.equals(NEVER)) {
            return new DurationOrNever(null);
        }
        Duration duration = DurationStyle.detectAndParse(text);
        if (duration.isNegative() || duration.isZero()) {
            throw new IllegalArgumentException(
                    "'%s' is not a positive duration, such as 1m or 30d, nor '-' for never".formatted(text));
        }
        return new DurationOrNever(duration);
    }

    /** The duration, or {@code null} for never. */
    public @Nullable Duration duration() {
        return this.duration;
    }

    @Override
    public String toString() {
        return (this.duration != null) ? this.duration.toString() : NEVER;
    }
}
