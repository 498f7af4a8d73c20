/** The inbox: messages that are kept, what became of them, and their replay. */
@NullMarked
package dev.idempotency.inbox;

import org.jspecify.annotations.NullMarked;
