/**
 * The test kit: verifies that a listener is idempotent, either without a broker or with every record delivered twice.
 *
 * <p>Entry points for users: {@link dev.idempotency.test.IdempotencyTester}, {@link dev.idempotency.test.DeliverTwice} and
 * {@link dev.idempotency.test.ProcessedMessageStoreContract}.
 */
@NullMarked
package dev.idempotency.test;

import org.jspecify.annotations.NullMarked;
