/** The public API: the annotation, claims from code, ids of messages, the checks at start-up, and the exceptions. */
@NullMarked
package dev.idempotency;

import org.jspecify.annotations.NullMarked;
