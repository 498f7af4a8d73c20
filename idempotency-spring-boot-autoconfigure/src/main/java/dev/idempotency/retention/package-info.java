/** What may be forgotten, and the cleanup that forgets it. */
@NullMarked
package dev.idempotency.retention;

import org.jspecify.annotations.NullMarked;
