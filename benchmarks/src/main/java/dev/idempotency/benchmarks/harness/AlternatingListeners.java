package dev.idempotency.benchmarks.harness;

import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.springframework.kafka.listener.ConcurrentMessageListenerContainer;

/**
 * Started listeners of which one runs at a time: compared listeners are measured within a short time, without a restart of
 * their consumers.
 */
public final class AlternatingListeners implements AutoCloseable {

    private static final Duration PATIENCE = Duration.ofMinutes(10);

    private final Map<String, ConcurrentMessageListenerContainer<?, ?>> containers;
    private final Map<String, List<DeliveryGate>> gates = new LinkedHashMap<>();

    /**
     * Starts the containers, which are given by the ids of their listeners. No consumer gets a record before all of them have
     * their partitions: a consumer that waits at its gate would block the assignment of the others.
     */
    AlternatingListeners(
            Map<String, ConcurrentMessageListenerContainer<?, ?>> containers, DeliveryGateInterceptor gates) {
        this.containers = containers;
        containers.forEach(
                (listener, container) -> this.gates.put(listener, gates.open(listener, container.getConcurrency())));
        containers.values().forEach(container -> {
            container.pause();
            container.start();
        });
        containers.values().forEach(AlternatingListeners::awaitAssignment);
        containers.values().forEach(ConcurrentMessageListenerContainer::resume);
    }

    private static void awaitAssignment(ConcurrentMessageListenerContainer<?, ?> container) {
        long start = System.nanoTime();
        while (!container.getContainers().stream()
                .allMatch(consumer -> consumer.getAssignedPartitions() != null
                        && !consumer.getAssignedPartitions().isEmpty())) {
            if (System.nanoTime() - start > PATIENCE.toNanos()) {
                throw new IllegalStateException("Not every consumer of the listener %s has a partition after %s"
                        .formatted(container.getListenerId(), PATIENCE));
            }
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(5));
        }
    }

    /** Lets each consumer of a listener process this many records, or some more to complete a batch. */
    public Measurement measure(String listener, int records) {
        List<DeliveryGate> consumers = gates(listener);
        consumers.forEach(consumer -> consumer.begin(records));
        return Measurement.together(
                consumers.stream().map(consumer -> consumer.await(PATIENCE)).toList());
    }

    /** Returns the number of records that a listener has processed in all its turns. */
    public int total(String listener) {
        return gates(listener).stream().mapToInt(DeliveryGate::total).sum();
    }

    private List<DeliveryGate> gates(String listener) {
        return Objects.requireNonNull(this.gates.get(listener), () -> "The listener " + listener + " is not here");
    }

    @Override
    public void close() {
        this.gates.values().forEach(consumers -> consumers.forEach(DeliveryGate::close));
        this.containers.values().forEach(ConcurrentMessageListenerContainer::stop);
    }
}
