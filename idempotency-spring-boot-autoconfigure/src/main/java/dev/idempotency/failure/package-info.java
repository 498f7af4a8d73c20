/** What becomes of messages that fail: retries, dead letters, and waiting for a database that is away. */
@NullMarked
package dev.idempotency.failure;

import org.jspecify.annotations.NullMarked;
