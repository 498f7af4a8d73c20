package dev.idempotency.test;

import dev.idempotency.internal.definition.ListenerDefinitionRegistry;
import dev.idempotency.internal.definition.ProtectedListener;
import dev.idempotency.internal.kafka.SpringKafkaInternals;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.Random;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.context.ApplicationListener;
import org.springframework.context.SmartLifecycle;
import org.springframework.kafka.core.ConsumerFactory;
import org.springframework.kafka.event.ConsumerStartedEvent;
import org.springframework.kafka.event.ConsumerStoppedEvent;
import org.springframework.kafka.event.KafkaEvent;
import org.springframework.kafka.listener.AbstractMessageListenerContainer;

/**
 * Makes the consumers of protected containers redeliver every record once.
 *
 * <p>A consumer factory may also serve unprotected containers, and does not know for which container it creates a consumer.
 * So all of its consumers are wrapped, and the started event of a protected container enables redelivery on its thread.
 */
final class RedeliveryInstaller implements SmartLifecycle, ApplicationListener<KafkaEvent> {

    private static final Logger logger = LoggerFactory.getLogger(RedeliveryInstaller.class);

    private final ListenerDefinitionRegistry definitions;
    private final IdempotencyTestProperties properties;
    private final long seed;
    private final ThreadLocal<Boolean> isProtected = ThreadLocal.withInitial(() -> false);
    private final Set<ConsumerFactory<?, ?>> prepared = Collections.newSetFromMap(new IdentityHashMap<>());
    private volatile boolean running;

    RedeliveryInstaller(ListenerDefinitionRegistry definitions, IdempotencyTestProperties properties) {
        this.definitions = definitions;
        this.properties = properties;
        this.seed = (properties.seed() != null) ? properties.seed() : new Random().nextLong();
    }

    @Override
    public void start() {
        this.running = true;
        this.definitions.listeners().stream()
                .map(ProtectedListener::container)
                .map(SpringKafkaInternals::consumerFactoryOf)
                .forEach(factory -> {
                    if (factory != null && this.prepared.add(factory)) {
                        prepare(factory);
                    }
                });
        logger.info(
                "Protected listeners get every record, and every batch, a second time{}",
                this.properties.randomOrder()
                        ? ", in random order (idempotency.test.seed=%d)".formatted(this.seed)
                        : "");
    }

    private <K, V> void prepare(ConsumerFactory<K, V> factory) {
        int known = factory.getPostProcessors().size();
        factory.addPostProcessor(consumer -> RedeliveringConsumer.of(consumer, this.isProtected::get, polls()));
        if (factory.getPostProcessors().size() == known) {
            throw new IllegalStateException(("idempotency.test.deliver-twice needs consumer factories that take a"
                            + " ConsumerPostProcessor, but a protected listener has a %s. Use a"
                            + " DefaultKafkaConsumerFactory.")
                    .formatted(factory.getClass().getName()));
        }
    }

    private <K, V> DeliveredPolls<K, V> polls() {
        Integer after = this.properties.deliverAgainAfter();
        Random order = this.properties.randomOrder() ? new Random(this.seed) : null;
        return new DeliveredPolls<>((after != null) ? after : 0, order);
    }

    /** Events must be handled on the consumer's thread; otherwise nothing would be redelivered. */
    @Override
    public boolean supportsAsyncExecution() {
        return false;
    }

    @Override
    public void onApplicationEvent(KafkaEvent event) {
        if (event instanceof ConsumerStartedEvent) {
            this.isProtected.set(isOfProtectedContainer(event));
        } else if (event instanceof ConsumerStoppedEvent) {
            this.isProtected.remove();
        }
    }

    private boolean isOfProtectedContainer(KafkaEvent event) {
        Object container = event.getContainer(AbstractMessageListenerContainer.class);
        return this.definitions.listeners().stream()
                .anyMatch(listener -> listener.container() == container || listener.container() == event.getSource());
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
