/**
 * Tables and statements of the inbox. Internal.
 */
@NullMarked
package dev.idempotency.internal.inbox;

import org.jspecify.annotations.NullMarked;
