/** The Actuator endpoint {@code idempotency} and the health contributor of the same name. */
@NullMarked
package dev.idempotency.actuate;

import org.jspecify.annotations.NullMarked;
