/** The observer SPI: what is told of each message, once its fate is certain. */
@NullMarked
package dev.idempotency.observe;

import org.jspecify.annotations.NullMarked;
