/**
 * Reads dead letters and sends them back. Internal.
 */
@NullMarked
package dev.idempotency.internal.redrive;

import org.jspecify.annotations.NullMarked;
