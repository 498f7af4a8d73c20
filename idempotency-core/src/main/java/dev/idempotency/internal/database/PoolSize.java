package dev.idempotency.internal.database;

import org.jspecify.annotations.Nullable;

/** How many connections the pool of the store's {@code DataSource} has at most. */
@FunctionalInterface
public interface PoolSize {

    /** Returns {@code null}, or a negative number, if that is not known. */
    @Nullable
    Integer get();
}
