/**
 * The inbox: stored messages, their status, and their replay. The bean is {@link dev.idempotency.inbox.Inbox}.
 */
@NullMarked
package dev.idempotency.inbox;

import org.jspecify.annotations.NullMarked;
