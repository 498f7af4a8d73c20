/**
 * What is verified before the first message: every way to be annotated and not be protected. No user's business; public for
 * the auto-configuration.
 */
@NullMarked
package dev.idempotency.check;

import org.jspecify.annotations.NullMarked;
