package dev.idempotency.job;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Some of the entries that a query asks for.
 *
 * @param entries the entries; there may be fewer than asked for, or none, although there is a next page
 * @param next what the query for the next page continues after; {@code null} at the end
 * @param <T> the type of the entries
 */
public record Page<T>(List<T> entries, @Nullable String next) {

    /** How many entries a page has, unless said otherwise. */
    public static final int DEFAULT_SIZE = 50;

    /** The largest page. */
    public static final int MAX_SIZE = 1000;

    public Page {
        entries = List.copyOf(entries);
    }

    /**
     * Validates the size of a page.
     *
     * @throws IllegalArgumentException if it is not between 1 and {@value #MAX_SIZE}
     */
    public static void requireSize(int size) {
        if (size < 1 || size > MAX_SIZE) {
            throw new IllegalArgumentException(
                    "The size of a page must be between 1 and %d, but is %d".formatted(MAX_SIZE, size));
        }
    }
}
