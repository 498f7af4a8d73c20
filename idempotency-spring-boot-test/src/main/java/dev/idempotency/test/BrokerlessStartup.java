package dev.idempotency.test;

import dev.idempotency.internal.kafka.BrokerConnection;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.context.SmartLifecycle;
import org.springframework.kafka.config.KafkaListenerEndpointRegistry;
import org.springframework.kafka.listener.AbstractMessageListenerContainer;

/** Keeps the application's containers from starting if there is no broker. */
final class BrokerlessStartup implements SmartLifecycle {

    private static final Logger logger = LoggerFactory.getLogger(BrokerlessStartup.class);

    private final ObjectProvider<KafkaListenerEndpointRegistry> endpoints;
    private final BrokerPresence brokers;
    private volatile boolean running;

    BrokerlessStartup(ObjectProvider<KafkaListenerEndpointRegistry> endpoints, BrokerPresence brokers) {
        this.endpoints = endpoints;
        this.brokers = brokers;
    }

    @Override
    public void start() {
        this.running = true;
        this.endpoints.ifAvailable(registry -> {
            List<AbstractMessageListenerContainer<?, ?>> without = registry.getAllListenerContainers().stream()
                    .filter(AbstractMessageListenerContainer.class::isInstance)
                    .<AbstractMessageListenerContainer<?, ?>>map(
                            container -> (AbstractMessageListenerContainer<?, ?>) container)
                    .filter(container ->
                            container.isAutoStartup() && !this.brokers.isPresent(BrokerConnection.of(container)))
                    .toList();
            without.forEach(container -> container.setAutoStartup(false));
            if (!without.isEmpty()) {
                logger.info(
                        "{} listener containers are not started, as there is no broker for them:"
                                + " idempotency.test.broker=true starts them all the same",
                        without.size());
            }
        });
    }

    @Override
    public void stop() {
        this.running = false;
    }

    @Override
    public boolean isRunning() {
        return this.running;
    }

    /** Starts before any container. */
    @Override
    public int getPhase() {
        return Integer.MIN_VALUE;
    }
}
