/** Start-up: finds the protected listeners and resolves, once, all that can be resolved. No user's business; public for the other rooms. */
@NullMarked
package dev.idempotency.definition;

import org.jspecify.annotations.NullMarked;
