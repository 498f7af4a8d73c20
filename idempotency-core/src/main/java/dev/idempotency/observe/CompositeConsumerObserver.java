package dev.idempotency.observe;

import dev.idempotency.MessageId;
import dev.idempotency.RecordCoordinates;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Several observers as one, none of which can break a message. */
public final class CompositeConsumerObserver implements ConsumerObserver {

    private final ObserverNotifier<ConsumerObserver> observers;

    private CompositeConsumerObserver(List<ConsumerObserver> observers) {
        this.observers = new ObserverNotifier<>(observers, "messages are not affected");
    }

    /** The observers that the factories give to a consumer. */
    public static ConsumerObserver of(List<IdempotencyObserver> factories, ConsumerDescription consumer) {
        List<ConsumerObserver> observers = new ArrayList<>();
        String reassurance =
                "it does not observe consumer '%s', whose messages are not affected".formatted(consumer.name());
        new ObserverNotifier<>(factories, reassurance)
                .tell(factory -> observers.add(Objects.requireNonNull(factory.observe(consumer), "No observer")));
        observers.removeIf(observer -> observer == NO_OP);
        return observers.isEmpty() ? NO_OP : new CompositeConsumerObserver(observers);
    }

    @Override
    public void delivered(Instant oldest) {
        this.observers.tell(observer -> observer.delivered(oldest));
    }

    @Override
    public void claimAnswered(int claimed, int duplicates, long nanos) {
        this.observers.tell(observer -> observer.claimAnswered(claimed, duplicates, nanos));
    }

    @Override
    public void claimFailed(RuntimeException reason, long nanos) {
        this.observers.tell(observer -> observer.claimFailed(reason, nanos));
    }

    @Override
    public void processed(MessageId id, RecordCoordinates coordinates) {
        this.observers.tell(observer -> observer.processed(id, coordinates));
    }

    @Override
    public void duplicate(Duplicate duplicate) {
        this.observers.tell(observer -> observer.duplicate(duplicate));
    }

    @Override
    public void conflict(Conflict conflict) {
        this.observers.tell(observer -> observer.conflict(conflict));
    }

    @Override
    public void stale(Stale stale) {
        this.observers.tell(observer -> observer.stale(stale));
    }

    @Override
    public void missingKey(RecordCoordinates coordinates) {
        this.observers.tell(observer -> observer.missingKey(coordinates));
    }

    @Override
    public void positionReset(RecordCoordinates first) {
        this.observers.tell(observer -> observer.positionReset(first));
    }

    @Override
    public void failed(RecordCoordinates coordinates, @Nullable Throwable failure) {
        this.observers.tell(observer -> observer.failed(coordinates, failure));
    }

    @Override
    public void step(MessageId id, String name, StepOutcome outcome) {
        this.observers.tell(observer -> observer.step(id, name, outcome));
    }

    @Override
    public void committed(long nanos) {
        this.observers.tell(observer -> observer.committed(nanos));
    }

    @Override
    public void retried(int messages) {
        this.observers.tell(observer -> observer.retried(messages));
    }

    @Override
    public void deadLettered(RecordCoordinates coordinates) {
        this.observers.tell(observer -> observer.deadLettered(coordinates));
    }

    @Override
    public void deadLettersRefused(int partitions) {
        this.observers.tell(observer -> observer.deadLettersRefused(partitions));
    }

    @Override
    public void outageBegan(Throwable cause) {
        this.observers.tell(observer -> observer.outageBegan(cause));
    }

    @Override
    public void outageEnded(long nanos) {
        this.observers.tell(observer -> observer.outageEnded(nanos));
    }
}
