/**
 * The inbox: stored messages, their status, and their replay.
 *
 * <p>For users: {@link dev.idempotency.inbox.Inbox}, a bean to be injected, with its parameters and
 * results. Other public types are internal.
 */
@NullMarked
package dev.idempotency.inbox;

import org.jspecify.annotations.NullMarked;
