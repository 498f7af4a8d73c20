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
 * Listeners that are all started, of which one runs at a time: what is compared is measured within the same moment, by
 * consumers that are not started again for it.
 */
public final class AlternatingListeners implements AutoCloseable {

    private static final Duration PATIENCE = Duration.ofMinutes(10);

    private final Map<String, ConcurrentMessageListenerContainer<?, ?>> containers;
    private final Map<String, List<DeliveryGate>> gates = new LinkedHashMap<>();

    /**
     * Starts the containers, by the ids of their listeners. None of their consumers is given a record before all of them
     * have their partitions: one that waits at its gate would keep the others from getting theirs.
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

    /** Lets a listener run for so many records, or some more at the end of a batch; each of its consumers has as many. */
    public Measurement measure(String listener, int records) {
        List<DeliveryGate> consumers = gates(listener);
        consumers.forEach(consumer -> consumer.begin(records));
        return Measurement.together(
                consumers.stream().map(consumer -> consumer.await(PATIENCE)).toList());
    }

    /** How many records a listener has had in all its turns. */
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
