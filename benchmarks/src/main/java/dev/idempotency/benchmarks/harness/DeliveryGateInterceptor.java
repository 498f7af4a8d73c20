package dev.idempotency.benchmarks.harness;

import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.stream.Stream;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.jspecify.annotations.Nullable;
import org.springframework.kafka.listener.BatchInterceptor;
import org.springframework.kafka.listener.RecordInterceptor;

/** The interceptor of all containers, which passes each delivery through the gate of its consumer. */
final class DeliveryGateInterceptor implements RecordInterceptor<Object, Object>, BatchInterceptor<Object, Object> {

    private final Map<String, Queue<DeliveryGate>> free = new ConcurrentHashMap<>();
    private final ThreadLocal<@Nullable DeliveryGate> ofThread = new ThreadLocal<>();

    /** Creates new gates for a listener, whose group has the same name: one for each of its consumers. */
    List<DeliveryGate> open(String listener, int consumers) {
        List<DeliveryGate> gates = Stream.generate(() -> new DeliveryGate(listener))
                .limit(consumers)
                .toList();
        this.free.put(listener, new ConcurrentLinkedQueue<>(gates));
        return gates;
    }

    private DeliveryGate of(Consumer<?, ?> consumer) {
        DeliveryGate gate = this.ofThread.get();
        if (gate == null) {
            String listener = consumer.groupMetadata().groupId();
            gate = Objects.requireNonNull(free(listener).poll(), () -> "There is no gate left for " + listener);
            this.ofThread.set(gate);
        }
        return gate;
    }

    private Queue<DeliveryGate> free(String listener) {
        return Objects.requireNonNull(this.free.get(listener), () -> "There is no gate for " + listener);
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
