/**
 * The inbox: messages that are kept, what became of them, and their replay.
 *
 * <p>For users: {@link dev.idempotency.inbox.Inbox}, a bean to be injected, with what it takes and returns, and {@link
 * dev.idempotency.inbox.InboxObserver}, to be implemented. What else is public is for other packages of the library.
 */
@NullMarked
package dev.idempotency.inbox;

import org.jspecify.annotations.NullMarked;
