package dev.idempotency.definition;

import dev.idempotency.MissingMessageKeyException;
import dev.idempotency.NoKeysYetException;
import dev.idempotency.RecordCoordinates;
import dev.idempotency.Strategy;
import dev.idempotency.UnusableKeyException;
import dev.idempotency.failure.FailureClassifier;
import dev.idempotency.failure.FailureKind;
import dev.idempotency.observe.ConsumerDescription;
import dev.idempotency.observe.ConsumerObserver;
import java.util.function.BooleanSupplier;

/** Decides what becomes of a consumer's messages without a usable key or version. */
public final class KeyFailures {

    private final ConsumerDescription consumer;
    private final boolean fromHeaders;
    private final BooleanSupplier processedAny;
    private final FailureClassifier classifier;
    private final ConsumerObserver observer;
    private volatile boolean keyedBefore;

    /** {@code processedAny} asks the database whether the consumer has processed any message. */
    KeyFailures(
            ConsumerDescription consumer,
            boolean fromHeaders,
            BooleanSupplier processedAny,
            FailureClassifier classifier,
            ConsumerObserver observer) {
        this.consumer = consumer;
        this.fromHeaders = fromHeaders;
        this.processedAny = processedAny;
        this.classifier = classifier;
        this.observer = observer;
    }

    /**
     * Returns the exception for a message that could not be identified. Dead letters are counted; messages that wait are not:
     * the key depends on an unavailable service, or no message has had a key yet.
     */
    public RuntimeException judge(RuntimeException unusable, RecordCoordinates where) {
        if (!(unusable instanceof UnusableKeyException) || isToBeWaitedFor(unusable)) {
            return unusable;
        }
        boolean missing = unusable instanceof MissingMessageKeyException;
        if (missing ? this.fromHeaders : this.consumer.strategy() == Strategy.VERSION) {
            try {
                if (!isKeyedBefore()) {
                    return noKeysYet(missing, where, unusable);
                }
            } catch (RuntimeException ex) {
                return ex;
            }
        }
        this.observer.missingKey(where);
        return unusable;
    }

    /** Whether a message could not be identified as its key was asked of something that is away. */
    public boolean isToBeWaitedFor(RuntimeException unusable) {
        return unusable.getCause() != null && this.classifier.classify(unusable) != FailureKind.MESSAGE;
    }

    /** Once it is, it stays so. The store is asked, so that a restart changes nothing. */
    private boolean isKeyedBefore() {
        if (!this.keyedBefore) {
            this.keyedBefore = this.processedAny.getAsBoolean();
        }
        return this.keyedBefore;
    }

    private NoKeysYetException noKeysYet(boolean missing, RecordCoordinates where, RuntimeException cause) {
        String found = missing
                ? "The message %s has none of the %s.".formatted(where, this.consumer.keySource())
                : cause.getMessage();
        String remedy = missing
                ? "Say where the id is in @IdempotentListener(key = …), let the producer set one of these headers, name the"
                        + " one that it sets in idempotency.key.headers, or set idempotency.key.on-missing=process to"
                        + " process such messages without deduplication."
                : "Let @IdempotentListener(version = …) give a whole number, or a point in time such as an Instant.";
        return new NoKeysYetException(
                ("%s Consumer '%s' has not processed any message yet, and all may be like that: it waits rather than"
                                + " dead-letter them. %s")
                        .formatted(found, this.consumer.name(), remedy),
                cause);
    }
}
