/** What a user touches: the annotation, the identity of a message, here and where it is sent, the checks at start-up, and the exceptions. */
@NullMarked
package dev.idempotency;

import org.jspecify.annotations.NullMarked;
