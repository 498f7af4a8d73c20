/**
 * The inbox: stored messages, their status, and their replay.
 *
 * <p>For users: {@link dev.idempotency.inbox.Inbox}, a bean to be injected, with what it takes and returns, and {@link
 * dev.idempotency.inbox.InboxObserver}, to be implemented. Other public types are internal.
 */
@NullMarked
package dev.idempotency.inbox;

import org.jspecify.annotations.NullMarked;
