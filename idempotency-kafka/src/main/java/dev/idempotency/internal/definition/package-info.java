/** Start-up: finds the protected listeners and resolves, once, all that can be resolved. Internal. */
@NullMarked
package dev.idempotency.internal.definition;

import org.jspecify.annotations.NullMarked;
