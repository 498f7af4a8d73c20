package dev.idempotency.internal.definition;

import dev.idempotency.ConsumerWaitingException;
import dev.idempotency.ConsumerWaitingException.Awaited;
import dev.idempotency.DeduplicationStrategy;
import dev.idempotency.InvalidMessageKeyException;
import dev.idempotency.RecordCoordinates;
import dev.idempotency.event.ConsumerDescription;
import dev.idempotency.event.IdempotencyEventListener;
import dev.idempotency.failure.FailureClassifier;
import dev.idempotency.failure.FailureKind;
import dev.idempotency.internal.failure.WarningInterval;
import dev.idempotency.internal.kafka.KafkaCoordinates;
import java.time.Duration;
import java.util.List;
import java.util.function.BooleanSupplier;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Decides what becomes of a consumer's messages without a usable key or version. */
public final class KeyFailures {

    private static final Logger logger = LoggerFactory.getLogger(KeyFailures.class);

    private final WarningInterval warnings = new WarningInterval(System::nanoTime, Duration.ofMinutes(1));
    private final ConsumerDescription consumer;
    private final boolean fromHeaders;
    private final BooleanSupplier processedAny;
    private final FailureClassifier classifier;
    private final IdempotencyEventListener observer;
    private volatile boolean keyedBefore;

    /** {@code processedAny} asks the database whether the consumer has processed any message. */
    KeyFailures(
            ConsumerDescription consumer,
            boolean fromHeaders,
            BooleanSupplier processedAny,
            FailureClassifier classifier,
            IdempotencyEventListener observer) {
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
    public RuntimeException judge(RuntimeException unusable, ConsumerRecord<?, ?> record) {
        if (!(unusable instanceof InvalidMessageKeyException) || isToBeWaitedFor(unusable)) {
            return unusable;
        }
        try {
            if (mayBeSoForAll(unusable, record) && !isKeyedBefore()) {
                return new ConsumerWaitingException(
                        Awaited.KEYS,
                        ("%s Consumer '%s' has not processed any message yet, and all of them may be like that: it waits"
                                        + " rather than dead-letter them. Correct the key, version or lock of"
                                        + " its @IdempotentListener, or let the producer set the id.")
                                .formatted(unusable.getMessage(), this.consumer.name()),
                        unusable);
            }
        } catch (RuntimeException ex) {
            return ex;
        }
        this.observer.missingKey(KafkaCoordinates.of(record));
        return unusable;
    }

    /** Whether the source of keys may be wrong, rather than just this message, such as a tombstone. */
    private boolean mayBeSoForAll(RuntimeException unusable, ConsumerRecord<?, ?> record) {
        return this.fromHeaders
                ? unusable instanceof InvalidMessageKeyException invalid && invalid.isMissing()
                        || this.consumer.strategy() == DeduplicationStrategy.VERSION
                : record.value() != null;
    }

    /** Reports that messages without a key were acknowledged, as the application wants. Warns once a minute. */
    public void skipped(List<RecordCoordinates> messages) {
        messages.forEach(this.observer::missingKey);
        if (!messages.isEmpty() && this.warnings.isDue()) {
            logger.warn(
                    "Consumer '{}' skipped {}, which has no key: {} gave none (idempotency.key.on-missing=skip). The next"
                            + " warning comes in a minute at the earliest; idempotency.messages counts all of them.",
                    this.consumer.name(),
                    messages.get(0),
                    this.consumer.keySource());
        }
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
}
