/** Payments and their listeners: the part of this sample that is worth copying. */
@NullMarked
package dev.idempotency.sample.payment;

import org.jspecify.annotations.NullMarked;
