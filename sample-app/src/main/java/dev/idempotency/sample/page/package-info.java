/** The page: its data and its buttons. */
@NullMarked
package dev.idempotency.sample.page;

import org.jspecify.annotations.NullMarked;
