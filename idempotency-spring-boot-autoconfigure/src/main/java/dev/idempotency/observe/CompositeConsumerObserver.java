package dev.idempotency.observe;

import dev.idempotency.MessageId;
import dev.idempotency.RecordCoordinates;
import java.util.List;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Several observers as one, none of which can break a message. */
public final class CompositeConsumerObserver implements ConsumerObserver {

    private static final Logger logger = LoggerFactory.getLogger(CompositeConsumerObserver.class);

    private final List<ConsumerObserver> observers;

    private CompositeConsumerObserver(List<ConsumerObserver> observers) {
        this.observers = observers;
    }

    /** The observers that the factories give to a consumer. */
    public static ConsumerObserver of(List<IdempotencyObserver> factories, ConsumerDescription consumer) {
        List<ConsumerObserver> observers = factories.stream()
                .map(factory -> introduce(factory, consumer))
                .filter(observer -> observer != NO_OP)
                .toList();
        return observers.isEmpty() ? NO_OP : new CompositeConsumerObserver(observers);
    }

    private static ConsumerObserver introduce(IdempotencyObserver factory, ConsumerDescription consumer) {
        try {
            return factory.observe(consumer);
        } catch (RuntimeException | LinkageError | AssertionError | StackOverflowError ex) {
            logger.warn("{} does not observe consumer '{}': messages are not affected", factory, consumer.name(), ex);
            return NO_OP;
        }
    }

    @Override
    public void claimAnswered(int claimed, int duplicates, long nanos) {
        tell(observer -> observer.claimAnswered(claimed, duplicates, nanos));
    }

    @Override
    public void claimFailed(RuntimeException reason, long nanos) {
        tell(observer -> observer.claimFailed(reason, nanos));
    }

    @Override
    public void processed(MessageId id, RecordCoordinates coordinates) {
        tell(observer -> observer.processed(id, coordinates));
    }

    @Override
    public void duplicate(Duplicate duplicate) {
        tell(observer -> observer.duplicate(duplicate));
    }

    @Override
    public void missingKey(RecordCoordinates coordinates) {
        tell(observer -> observer.missingKey(coordinates));
    }

    @Override
    public void failed(int messages) {
        tell(observer -> observer.failed(messages));
    }

    @Override
    public void committed(long nanos) {
        tell(observer -> observer.committed(nanos));
    }

    @Override
    public void retried(int messages) {
        tell(observer -> observer.retried(messages));
    }

    @Override
    public void deadLettered(RecordCoordinates coordinates) {
        tell(observer -> observer.deadLettered(coordinates));
    }

    @Override
    public void outageBegan(Throwable cause) {
        tell(observer -> observer.outageBegan(cause));
    }

    @Override
    public void outageEnded(long nanos) {
        tell(observer -> observer.outageEnded(nanos));
    }

    private void tell(Consumer<ConsumerObserver> news) {
        for (ConsumerObserver observer : this.observers) {
            try {
                news.accept(observer);
            } catch (RuntimeException | LinkageError | AssertionError | StackOverflowError ex) {
                logger.warn("{} failed and was ignored: messages are not affected", observer, ex);
            }
        }
    }
}
