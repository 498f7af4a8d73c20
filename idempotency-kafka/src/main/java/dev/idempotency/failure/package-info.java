/**
 * Classification of failures: define a bean of type {@link dev.idempotency.failure.FailureClassifier} to replace {@link
 * dev.idempotency.failure.DatabaseFailureClassifier}.
 */
@NullMarked
package dev.idempotency.failure;

import org.jspecify.annotations.NullMarked;
