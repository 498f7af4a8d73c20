package dev.idempotency.failure;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Asks the application's classifier, and answers by itself where that fails: it is asked while records are neither done
 * nor to be delivered again, so that what it throws would lose them.
 */
final class CarefulFailureClassifier implements FailureClassifier {

    private static final Logger logger = LoggerFactory.getLogger(CarefulFailureClassifier.class);

    private final String name;
    private final FailureClassifier delegate;
    private final FailureClassifier fallback = new DatabaseFailureClassifier();

    /**
     * Stands before a classifier.
     *
     * @param name the name of its bean
     */
    CarefulFailureClassifier(String name, FailureClassifier delegate) {
        this.name = name;
        this.delegate = delegate;
    }

    @Override
    public FailureKind classify(Throwable failure) {
        FailureKind kind = ask(failure);
        if (kind != null) {
            return kind;
        }
        try {
            return this.fallback.classify(failure);
        } catch (RuntimeException | StackOverflowError ex) {
            return FailureKind.MESSAGE;
        }
    }

    private @Nullable FailureKind ask(Throwable failure) {
        try {
            FailureKind kind = this.delegate.classify(failure);
            if (kind == null) {
                logger.error(
                        "FailureClassifier '{}' ({}) returned null for a {}: the failure is judged as without it. Let it return a FailureKind.",
                        this.name,
                        this.delegate.getClass().getName(),
                        failure.getClass().getName());
            }
            return kind;
        } catch (RuntimeException | Error ex) {
            FatalErrors.rethrow(ex);
            logger.error(
                    "FailureClassifier '{}' ({}) failed at a {}: the failure is judged as without it. Mend the classifier.",
                    this.name,
                    this.delegate.getClass().getName(),
                    failure.getClass().getName(),
                    ex);
            return null;
        }
    }
}
