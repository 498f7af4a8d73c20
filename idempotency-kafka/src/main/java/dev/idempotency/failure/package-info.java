/**
 * Failures: classification, waiting for the database, retries and dead letters.
 *
 * <p>For users are {@link dev.idempotency.failure.FailureClassifier} with {@link dev.idempotency.failure.FailureKind} and
 * {@link dev.idempotency.failure.DatabaseFailureClassifier}, which is the default; and the bean {@link
 * dev.idempotency.failure.OutageRegistry}, which lists each {@link dev.idempotency.observe.ConsumerOutage}. All other public types are internal.
 */
@NullMarked
package dev.idempotency.failure;

import org.jspecify.annotations.NullMarked;
