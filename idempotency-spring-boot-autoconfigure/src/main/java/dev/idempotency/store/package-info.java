/**
 * Claims: which messages may enter, and the store that knows which ones have been processed.
 *
 * <p>For users: {@link dev.idempotency.store.ProcessedMessageStore}, a bean to be injected or to be replaced, with what it
 * takes and returns, and {@link dev.idempotency.store.JdbcProcessedMessageStore}, for those who make it themselves. What
 * else is public is for other packages of the library.
 */
@NullMarked
package dev.idempotency.store;

import org.jspecify.annotations.NullMarked;
