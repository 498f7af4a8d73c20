package dev.idempotency.app;

import dev.idempotency.MessageId;
import dev.idempotency.RecordCoordinates;
import dev.idempotency.event.Conflict;
import dev.idempotency.event.ConsumerDescription;
import dev.idempotency.event.Duplicate;
import dev.idempotency.event.IdempotencyEventListener;
import dev.idempotency.event.Stale;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;

/** Records the events that are reported to listeners. */
public class Outcomes implements IdempotencyEventListener {

    public final List<ConsumerDescription> consumers = new CopyOnWriteArrayList<>();
    public final List<MessageId> processed = new CopyOnWriteArrayList<>();
    public final List<Duplicate> duplicates = new CopyOnWriteArrayList<>();
    public final List<Conflict> conflicts = new CopyOnWriteArrayList<>();
    public final List<RecordCoordinates> resets = new CopyOnWriteArrayList<>();
    public final List<Stale> stale = new CopyOnWriteArrayList<>();
    public final List<RecordCoordinates> missingKeys = new CopyOnWriteArrayList<>();
    public final AtomicInteger failed = new AtomicInteger();
    public final AtomicInteger retried = new AtomicInteger();

    @Override
    public IdempotencyEventListener forConsumer(ConsumerDescription consumer) {
        this.consumers.add(consumer);
        return this;
    }

    @Override
    public void processed(MessageId id, RecordCoordinates coordinates) {
        this.processed.add(id);
    }

    @Override
    public void duplicate(Duplicate duplicate) {
        this.duplicates.add(duplicate);
    }

    @Override
    public void conflict(Conflict conflict) {
        this.conflicts.add(conflict);
    }

    @Override
    public void positionReset(RecordCoordinates first) {
        this.resets.add(first);
    }

    @Override
    public void stale(Stale message) {
        this.stale.add(message);
    }

    @Override
    public void missingKey(RecordCoordinates coordinates) {
        this.missingKeys.add(coordinates);
    }

    @Override
    public void failed(RecordCoordinates coordinates, Throwable failure) {
        this.failed.incrementAndGet();
    }

    @Override
    public void retried(int messages) {
        this.retried.addAndGet(messages);
    }
}
