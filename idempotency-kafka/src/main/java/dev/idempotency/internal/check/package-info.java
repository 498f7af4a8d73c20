/**
 * Start-up checks: every way for a listener to be annotated and not be protected. Internal; public for
 * the auto-configuration.
 */
@NullMarked
package dev.idempotency.internal.check;

import org.jspecify.annotations.NullMarked;
