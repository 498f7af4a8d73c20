package dev.idempotency.internal.database;

import java.util.function.IntSupplier;

/** How many connections the pool of the store's {@code DataSource} has at most; the highest number if that is not known. */
@FunctionalInterface
public interface PoolSize extends IntSupplier {}
