/**
 * The test kit: shows that a listener is idempotent, without a broker or with every delivery of one made twice.
 *
 * <p>For users: {@link dev.idempotency.test.IdempotencyTester}, what it leads to, {@link dev.idempotency.test.DeliverTwice}, and
 * {@link dev.idempotency.test.ProcessedMessageStoreContract}.
 */
@NullMarked
package dev.idempotency.test;

import org.jspecify.annotations.NullMarked;
