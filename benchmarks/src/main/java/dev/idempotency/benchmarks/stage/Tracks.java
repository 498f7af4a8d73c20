package dev.idempotency.benchmarks.stage;

import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.jspecify.annotations.Nullable;
import org.springframework.kafka.listener.BatchInterceptor;
import org.springframework.kafka.listener.RecordInterceptor;

/** Stands at every container, the same for all contenders, and leads its deliveries over the listener's track. */
final class Tracks implements RecordInterceptor<Object, Object>, BatchInterceptor<Object, Object> {

    private final Map<String, Track> tracks = new ConcurrentHashMap<>();
    private final ThreadLocal<@Nullable Track> ofThread = new ThreadLocal<>();

    /** Makes a new track for a listener, whose group has the same name. */
    Track open(String listener) {
        Track track = new Track(listener);
        this.tracks.put(listener, track);
        return track;
    }

    private Track of(Consumer<?, ?> consumer) {
        Track track = this.ofThread.get();
        if (track == null) {
            String listener = consumer.groupMetadata().groupId();
            track = Objects.requireNonNull(this.tracks.get(listener), () -> "There is no track for " + listener);
            this.ofThread.set(track);
        }
        return track;
    }

    @Override
    public @Nullable ConsumerRecord<Object, Object> intercept(
            ConsumerRecord<Object, Object> record, Consumer<Object, Object> consumer) {
        return of(consumer).delivered() ? record : null;
    }

    @Override
    public void success(ConsumerRecord<Object, Object> record, Consumer<Object, Object> consumer) {
        of(consumer).done(1);
    }

    @Override
    public void failure(ConsumerRecord<Object, Object> record, Exception exception, Consumer<Object, Object> consumer) {
        of(consumer).failed(exception);
    }

    @Override
    public @Nullable ConsumerRecords<Object, Object> intercept(
            ConsumerRecords<Object, Object> records, Consumer<Object, Object> consumer) {
        return of(consumer).delivered() ? records : null;
    }

    @Override
    public void success(ConsumerRecords<Object, Object> records, Consumer<Object, Object> consumer) {
        of(consumer).done(records.count());
    }

    @Override
    public void failure(
            ConsumerRecords<Object, Object> records, Exception exception, Consumer<Object, Object> consumer) {
        of(consumer).failed(exception);
    }
}
