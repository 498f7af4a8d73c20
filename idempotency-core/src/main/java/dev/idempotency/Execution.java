package dev.idempotency;

import org.jspecify.annotations.Nullable;

/**
 * How an execution went.
 *
 * @param id what was executed
 * @param duplicate whether the work had been done before, and was not done now
 * @param result what the work returned, now or the first time
 * @param <T> the type of the result
 */
public record Execution<T extends @Nullable Object>(MessageId id, boolean duplicate, T result) {}
