package dev.idempotency.test;

import dev.idempotency.MessageId;
import dev.idempotency.RecordCoordinates;
import dev.idempotency.event.Duplicate;
import dev.idempotency.event.IdempotencyEventListener;
import dev.idempotency.event.Stale;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.jspecify.annotations.Nullable;
import org.springframework.core.NestedExceptionUtils;

/** Outcomes of one consumer's messages since the last reset. */
final class ConsumerOutcomes implements IdempotencyEventListener {

    /** A message whose effects have been committed. */
    record Processed(MessageId id, RecordCoordinates coordinates) {}

    final List<Processed> processed = new CopyOnWriteArrayList<>();
    final List<Duplicate> dropped = new CopyOnWriteArrayList<>();
    final List<Stale> stale = new CopyOnWriteArrayList<>();
    final List<RecordCoordinates> withoutKey = new CopyOnWriteArrayList<>();
    final List<RecordCoordinates> deadLettered = new CopyOnWriteArrayList<>();
    final List<ProducerRecord<?, ?>> published = new CopyOnWriteArrayList<>();

    /** The reasons of failed attempts. */
    final List<String> failures = new CopyOnWriteArrayList<>();

    @Override
    public void processed(MessageId id, RecordCoordinates coordinates) {
        this.processed.add(new Processed(id, coordinates));
    }

    @Override
    public void duplicate(Duplicate duplicate) {
        this.dropped.add(duplicate);
    }

    @Override
    public void stale(Stale message) {
        this.stale.add(message);
    }

    @Override
    public void missingKey(RecordCoordinates coordinates) {
        this.withoutKey.add(coordinates);
    }

    @Override
    public void failed(RecordCoordinates coordinates, @Nullable Throwable failure) {
        this.failures.add(
                (failure != null)
                        ? NestedExceptionUtils.getMostSpecificCause(failure).toString()
                        : "its transaction was rolled back");
    }

    @Override
    public void deadLettered(RecordCoordinates coordinates) {
        this.deadLettered.add(coordinates);
    }

    void reset() {
        List.of(
                        this.processed,
                        this.dropped,
                        this.stale,
                        this.withoutKey,
                        this.deadLettered,
                        this.published,
                        this.failures)
                .forEach(List::clear);
    }
}
