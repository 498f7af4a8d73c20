/**
 * Results: of work, stored with a claim and returned to duplicates; of steps, which later attempts do not repeat. Internal.
 */
@NullMarked
package dev.idempotency.internal.result;

import org.jspecify.annotations.NullMarked;
