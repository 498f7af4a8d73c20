/** Records as they were received: their bytes and headers, before anything was made of them. */
@NullMarked
package dev.idempotency.received;

import org.jspecify.annotations.NullMarked;
