/** Payments and those who listen to them: what is worth copying from this sample. */
@NullMarked
package dev.idempotency.sample.payment;

import org.jspecify.annotations.NullMarked;
