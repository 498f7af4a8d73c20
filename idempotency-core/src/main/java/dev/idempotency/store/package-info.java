/**
 * Claims: which messages are new, and the store of those that have been processed.
 *
 * <p>For users: {@link dev.idempotency.store.ProcessedMessageStore}, a bean to be injected or to be replaced, with what it
 * takes and returns, and {@link dev.idempotency.store.JdbcProcessedMessageStore}, for those who make it themselves. What
 * else is public is for other packages of the library.
 */
@NullMarked
package dev.idempotency.store;

import org.jspecify.annotations.NullMarked;
