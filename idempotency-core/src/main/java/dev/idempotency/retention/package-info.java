/**
 * The cleanup, which removes rows that are older than their retention: {@link dev.idempotency.retention.Cleanup}, and beans
 * of type {@link dev.idempotency.retention.CleanupTask}.
 */
@NullMarked
package dev.idempotency.retention;

import org.jspecify.annotations.NullMarked;
