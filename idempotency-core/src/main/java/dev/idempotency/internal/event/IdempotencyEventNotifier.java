package dev.idempotency.internal.event;

import dev.idempotency.MessageId;
import dev.idempotency.RecordCoordinates;
import dev.idempotency.event.CleanupRun;
import dev.idempotency.event.Conflict;
import dev.idempotency.event.ConsumerDescription;
import dev.idempotency.event.Duplicate;
import dev.idempotency.event.IdempotencyEventListener;
import dev.idempotency.event.Reconciled;
import dev.idempotency.event.Stale;
import dev.idempotency.event.StepOutcome;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Notifies several listeners. If one of them throws, that is logged, and the others are notified all the same. */
public final class IdempotencyEventNotifier implements IdempotencyEventListener {

    private static final Logger logger = LoggerFactory.getLogger(IdempotencyEventNotifier.class);

    private final List<IdempotencyEventListener> listeners;

    private IdempotencyEventNotifier(List<? extends IdempotencyEventListener> listeners) {
        this.listeners = List.copyOf(listeners);
    }

    /** Returns one listener for all of them. */
    public static IdempotencyEventListener of(List<? extends IdempotencyEventListener> listeners) {
        return listeners.isEmpty() ? NO_OP : new IdempotencyEventNotifier(listeners);
    }

    private void notify(Consumer<IdempotencyEventListener> event) {
        notify(event, "messages are not affected");
    }

    private void notify(Consumer<IdempotencyEventListener> event, String consequence) {
        for (IdempotencyEventListener listener : this.listeners) {
            try {
                event.accept(listener);
            } catch (Throwable ex) {
                if (ex instanceof VirtualMachineError fatal && !(ex instanceof StackOverflowError)) {
                    throw fatal;
                }
                logger.warn("{} failed and was ignored: {}", listener.getClass().getName(), consequence, ex);
            }
        }
    }

    @Override
    public IdempotencyEventListener forConsumer(ConsumerDescription consumer) {
        List<IdempotencyEventListener> ofConsumer = new ArrayList<>();
        notify(
                listener -> ofConsumer.add(Objects.requireNonNull(listener.forConsumer(consumer), "No listener")),
                "it gets no events of consumer '%s', whose messages are not affected".formatted(consumer.name()));
        ofConsumer.removeIf(listener -> listener == NO_OP);
        return of(ofConsumer);
    }

    @Override
    public void delivered(Instant oldest) {
        notify(listener -> listener.delivered(oldest));
    }

    @Override
    public void claimAnswered(int claimed, int duplicates, long nanos) {
        notify(listener -> listener.claimAnswered(claimed, duplicates, nanos));
    }

    @Override
    public void claimFailed(RuntimeException reason, long nanos) {
        notify(listener -> listener.claimFailed(reason, nanos));
    }

    @Override
    public void lockWaited(long nanos) {
        notify(listener -> listener.lockWaited(nanos));
    }

    @Override
    public void processed(MessageId id, RecordCoordinates coordinates) {
        notify(listener -> listener.processed(id, coordinates));
    }

    @Override
    public void duplicate(Duplicate duplicate) {
        notify(listener -> listener.duplicate(duplicate));
    }

    @Override
    public void conflict(Conflict conflict) {
        notify(listener -> listener.conflict(conflict));
    }

    @Override
    public void stale(Stale stale) {
        notify(listener -> listener.stale(stale));
    }

    @Override
    public void missingKey(RecordCoordinates coordinates) {
        notify(listener -> listener.missingKey(coordinates));
    }

    @Override
    public void positionReset(RecordCoordinates first) {
        notify(listener -> listener.positionReset(first));
    }

    @Override
    public void failed(RecordCoordinates coordinates, @Nullable Throwable failure) {
        notify(listener -> listener.failed(coordinates, failure));
    }

    @Override
    public void step(MessageId id, String name, StepOutcome outcome) {
        notify(listener -> listener.step(id, name, outcome));
    }

    @Override
    public void committed(long nanos) {
        notify(listener -> listener.committed(nanos));
    }

    @Override
    public void retried(int messages) {
        notify(listener -> listener.retried(messages));
    }

    @Override
    public void deadLettered(RecordCoordinates coordinates) {
        notify(listener -> listener.deadLettered(coordinates));
    }

    @Override
    public void deadLettersRefused(int partitions) {
        notify(listener -> listener.deadLettersRefused(partitions));
    }

    @Override
    public void outageBegan(Throwable cause) {
        notify(listener -> listener.outageBegan(cause));
    }

    @Override
    public void outageEnded(long nanos) {
        notify(listener -> listener.outageEnded(nanos));
    }

    @Override
    public void cleanupRan(CleanupRun run) {
        notify(listener -> listener.cleanupRan(run));
    }

    @Override
    public void replayed(MessageId id) {
        notify(listener -> listener.replayed(id));
    }

    @Override
    public void unrecorded(String consumer, RuntimeException reason) {
        notify(listener -> listener.unrecorded(consumer, reason));
    }

    @Override
    public void reconciled(Reconciled result) {
        notify(listener -> listener.reconciled(result));
    }
}
