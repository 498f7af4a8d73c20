package dev.idempotency.test;

import dev.idempotency.internal.definition.ListenerDefinitionRegistry;
import dev.idempotency.internal.definition.ProtectedListener;
import java.util.List;
import java.util.TreeSet;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.kafka.config.KafkaListenerEndpointRegistry;
import org.springframework.kafka.listener.AbstractMessageListenerContainer;

/**
 * Delivers records to the listeners of an application as their containers do, without a broker, and reports the outcomes of
 * their messages.
 *
 * <pre>{@code
 * tester.consumer("ledger").deliver(payment("4711")).twice();
 * assertThat(tester.consumer("ledger")).hasProcessed("4711").hasDropped(1);
 * }</pre>
 *
 * <p>The tester runs a Spring Kafka container with the listener, error handler, interceptors, deserializers and
 * acknowledgment mode of the application's container. Only the Kafka consumer is replaced. Records that are sent to Kafka
 * meanwhile, such as dead letters, are captured instead.
 */
public final class IdempotencyTester {

    private final ListenerDefinitionRegistry definitions;
    private final ObjectProvider<KafkaListenerEndpointRegistry> endpoints;
    private final OutcomeRecorder outcomes;
    private final ContainerRunner runner;

    IdempotencyTester(
            ListenerDefinitionRegistry definitions,
            ObjectProvider<KafkaListenerEndpointRegistry> endpoints,
            OutcomeRecorder outcomes,
            ContainerRunner runner) {
        this.definitions = definitions;
        this.endpoints = endpoints;
        this.outcomes = outcomes;
        this.runner = runner;
    }

    /**
     * Returns the consumer with this name.
     *
     * @param name the name in {@code @IdempotentListener}, or the id of a {@code @KafkaListener} without protection
     * @throws IllegalArgumentException if there is none
     */
    public TestedConsumer consumer(String name) {
        List<ProtectedListener> listeners = this.definitions.listeners().stream()
                .filter(listener -> listener.consumer().name().equals(name))
                .toList();
        List<AbstractMessageListenerContainer<?, ?>> containers = listeners.stream()
                .<AbstractMessageListenerContainer<?, ?>>map(ProtectedListener::container)
                .distinct()
                .toList();
        if (!containers.isEmpty()) {
            return new TestedConsumer(name, true, containers, this.outcomes.of(name), this.runner);
        }
        KafkaListenerEndpointRegistry registry = this.endpoints.getIfAvailable();
        if (registry != null
                && registry.getListenerContainer(name) instanceof AbstractMessageListenerContainer<?, ?> container) {
            return new TestedConsumer(name, false, List.of(container), this.outcomes.of(name), this.runner);
        }
        throw new IllegalArgumentException(
                "There is no consumer '%s'. The consumers are %s; the ids of listeners are %s."
                        .formatted(
                                name,
                                new TreeSet<>(this.definitions.names()),
                                (registry != null) ? new TreeSet<>(registry.getListenerContainerIds()) : List.of()));
    }

    /**
     * Clears all outcomes, which happens automatically before each test method. The database is not cleared: tests that share
     * one should use different ids.
     */
    public void reset() {
        this.outcomes.reset();
    }
}
