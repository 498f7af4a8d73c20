/** Claims: the SPI of the store, and the store that keeps them with JDBC. */
@NullMarked
package dev.idempotency.store;

import org.jspecify.annotations.NullMarked;
