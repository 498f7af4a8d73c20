package dev.idempotency.benchmarks.harness;

import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import org.springframework.kafka.listener.MessageListenerContainer;

/**
 * Listeners that are all started, of which one runs at a time: what is compared is measured within the same moment, by
 * consumers that are not started again for it.
 */
public final class AlternatingListeners implements AutoCloseable {

    private static final Duration PATIENCE = Duration.ofMinutes(10);

    private final Map<String, MessageListenerContainer> containers;
    private final Map<String, DeliveryGate> gates = new LinkedHashMap<>();

    /** Starts the containers, by the ids of their listeners. */
    AlternatingListeners(Map<String, MessageListenerContainer> containers, DeliveryGateInterceptor gates) {
        this.containers = containers;
        containers.keySet().forEach(listener -> this.gates.put(listener, gates.open(listener)));
        containers.values().forEach(MessageListenerContainer::start);
    }

    /** Lets a listener run for so many records, or some more at the end of a batch. */
    public Measurement measure(String listener, int records) {
        return gate(listener).run(records, PATIENCE);
    }

    /** How many records a listener has had in all its turns. */
    public int total(String listener) {
        return gate(listener).total();
    }

    private DeliveryGate gate(String listener) {
        return Objects.requireNonNull(this.gates.get(listener), () -> "The listener " + listener + " is not here");
    }

    @Override
    public void close() {
        this.gates.values().forEach(DeliveryGate::close);
        this.containers.values().forEach(MessageListenerContainer::stop);
    }
}
