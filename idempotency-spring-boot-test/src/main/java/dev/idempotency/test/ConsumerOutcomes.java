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

    private final List<Processed> processed = new CopyOnWriteArrayList<>();
    private final List<Duplicate> dropped = new CopyOnWriteArrayList<>();
    private final List<Stale> stale = new CopyOnWriteArrayList<>();
    private final List<RecordCoordinates> withoutKey = new CopyOnWriteArrayList<>();
    private final List<RecordCoordinates> deadLettered = new CopyOnWriteArrayList<>();
    private final List<ProducerRecord<?, ?>> published = new CopyOnWriteArrayList<>();
    private final List<String> failed = new CopyOnWriteArrayList<>();

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
        this.failed.add(
                (failure != null)
                        ? NestedExceptionUtils.getMostSpecificCause(failure).toString()
                        : "its transaction was rolled back");
    }

    @Override
    public void deadLettered(RecordCoordinates coordinates) {
        this.deadLettered.add(coordinates);
    }

    void published(ProducerRecord<?, ?> record) {
        this.published.add(record);
    }

    List<Processed> processed() {
        return this.processed;
    }

    List<Duplicate> dropped() {
        return this.dropped;
    }

    List<Stale> stale() {
        return this.stale;
    }

    List<RecordCoordinates> withoutKey() {
        return this.withoutKey;
    }

    List<RecordCoordinates> deadLettered() {
        return this.deadLettered;
    }

    List<ProducerRecord<?, ?>> published() {
        return this.published;
    }

    /** Why attempts failed. */
    List<String> failures() {
        return this.failed;
    }

    void reset() {
        this.processed.clear();
        this.dropped.clear();
        this.stale.clear();
        this.withoutKey.clear();
        this.deadLettered.clear();
        this.published.clear();
        this.failed.clear();
    }
}
