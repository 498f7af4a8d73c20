package dev.idempotency.failure;

import dev.idempotency.IdempotencyException;
import dev.idempotency.NoKeysYetException;
import dev.idempotency.TopicUnknownException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Classifies the failures of all listeners: what this library itself has thrown by what that is, all else by asking the
 * application's classifier.
 *
 * <p>It answers by itself where that one fails: it is asked while records are neither done nor to be delivered again, so
 * that what it throws would lose them.
 */
final class DelegatingFailureClassifier implements FailureClassifier {

    private static final Logger logger = LoggerFactory.getLogger(DelegatingFailureClassifier.class);

    private final String name;
    private final FailureClassifier delegate;
    private final FailureClassifier database = new DatabaseFailureClassifier();

    /**
     * Guards the application's classifier.
     *
     * @param name the name of its bean
     */
    DelegatingFailureClassifier(String name, FailureClassifier delegate) {
        this.name = name;
        this.delegate = delegate;
    }

    @Override
    public FailureKind classify(Throwable failure) {
        if (findOwnReason(failure) != null) {
            return FailureKind.OUTAGE;
        }
        // Whatever the application's classifier knows of other failures: one of the store is not the message's.
        FailureKind kind = DatabaseFailureClassifier.isOfStore(failure) ? null : ask(failure);
        if (kind != null) {
            return kind;
        }
        try {
            return this.database.classify(failure);
        } catch (RuntimeException | StackOverflowError ex) {
            return FailureKind.MESSAGE;
        }
    }

    /** What this library waits for by throwing it itself, or {@code null} if the failure is another one. */
    static @Nullable IdempotencyException findOwnReason(Throwable failure) {
        Causes causes = Causes.of(failure);
        NoKeysYetException noKeysYet = causes.find(NoKeysYetException.class);
        return (noKeysYet != null) ? noKeysYet : causes.find(TopicUnknownException.class);
    }

    /** What the application's classifier says, or {@code null} if it fails. */
    private @Nullable FailureKind ask(Throwable failure) {
        Throwable thrown = null;
        try {
            FailureKind kind = this.delegate.classify(failure);
            if (kind != null) {
                return kind;
            }
        } catch (Throwable ex) {
            FatalErrors.rethrow(ex);
            thrown = ex;
        }
        logger.error(
                "FailureClassifier '{}' ({}) {} a {}: the failure is judged as without it. Mend the classifier: it has to"
                        + " return a FailureKind.",
                this.name,
                this.delegate.getClass().getName(),
                (thrown != null) ? "failed at" : "returned null for",
                failure.getClass().getName(),
                thrown);
        return null;
    }
}
