/**
 * What becomes of messages that fail: classification, waiting for what is away, retries and dead letters.
 *
 * <p>For users are {@link dev.idempotency.failure.FailureClassifier} with {@link dev.idempotency.failure.FailureKind} and
 * {@link dev.idempotency.failure.DatabaseFailureClassifier}, which is the default; and the bean {@link
 * dev.idempotency.failure.OutageRegistry}, which lists each {@link dev.idempotency.failure.ConsumerOutage}. All else that
 * is public is so for other packages of this library.
 */
@NullMarked
package dev.idempotency.failure;

import org.jspecify.annotations.NullMarked;
