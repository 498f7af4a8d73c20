/** What is verified before the first message: every way to be annotated and not be protected. */
@NullMarked
package dev.idempotency.check;

import org.jspecify.annotations.NullMarked;
