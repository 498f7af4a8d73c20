/**
 * Tasks of the cleanup, and work that is repeated. Internal.
 */
@NullMarked
package dev.idempotency.internal.retention;

import org.jspecify.annotations.NullMarked;
