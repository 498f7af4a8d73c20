/** A runnable ledger: accounts receive payments, sometimes more than once. */
@NullMarked
package dev.idempotency.sample;

import org.jspecify.annotations.NullMarked;
