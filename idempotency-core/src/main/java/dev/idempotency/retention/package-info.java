/**
 * The cleanup, which removes rows that are older than their retention.
 *
 * <p>For users: {@link dev.idempotency.retention.Cleanup}, to be run on their own schedule, with its limits, its runs
 * and its status; beans of type {@link dev.idempotency.retention.CleanupTask}. Other public types are
 * internal.
 */
@NullMarked
package dev.idempotency.retention;

import org.jspecify.annotations.NullMarked;
