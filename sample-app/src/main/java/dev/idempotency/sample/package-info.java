/** A runnable ledger: payments arrive at accounts, now and then more than once. */
@NullMarked
package dev.idempotency.sample;

import org.jspecify.annotations.NullMarked;
