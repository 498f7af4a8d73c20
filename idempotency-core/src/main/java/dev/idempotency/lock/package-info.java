/** Locks for business keys: whoever names a key in a transaction keeps all others that name it waiting until its end. */
@NullMarked
package dev.idempotency.lock;

import org.jspecify.annotations.NullMarked;
