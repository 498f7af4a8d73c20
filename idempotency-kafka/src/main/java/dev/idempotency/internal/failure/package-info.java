/**
 * Failures: waiting for the database, retries, dead letters. Internal.
 */
@NullMarked
package dev.idempotency.internal.failure;

import org.jspecify.annotations.NullMarked;
