package dev.idempotency.failure;

/**
 * Classifies failures.
 *
 * <p>Define a bean of this type to let consumers wait for other failures to end, too, such as a service's that
 * listeners depend on.
 */
@FunctionalInterface
public interface FailureClassifier {

    /** The kind of a failure, by what the listener, its transaction or its container threw. */
    FailureKind classify(Throwable failure);
}
