package dev.idempotency.internal.kafka;

import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationRegistry;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.kafka.listener.AbstractMessageListenerContainer;
import org.springframework.kafka.listener.ContainerProperties;
import org.springframework.kafka.listener.adapter.MessagingMessageListenerAdapter;
import org.springframework.kafka.support.micrometer.KafkaListenerObservation;
import org.springframework.kafka.support.micrometer.KafkaListenerObservation.DefaultKafkaListenerObservationConvention;
import org.springframework.kafka.support.micrometer.KafkaRecordReceiverContext;
import org.springframework.util.function.SingletonSupplier;

/**
 * Observes each record of a poll, as the container of a record listener does: batch containers do not. The observation ends
 * when the listener returns, which is before the commit.
 */
public final class RecordObservations {

    private final AbstractMessageListenerContainer<?, ?> container;
    private final ContainerProperties properties;
    private final Supplier<ObservationRegistry> registry;

    /** Looks for the registry when there are records: it may not have been created yet. */
    private RecordObservations(AbstractMessageListenerContainer<?, ?> container, BeanFactory beanFactory) {
        this.container = container;
        this.properties = container.getContainerProperties();
        this.registry = SingletonSupplier.of(() -> registry(beanFactory));
    }

    public static RecordObservations of(AbstractMessageListenerContainer<?, ?> container, BeanFactory beanFactory) {
        if (ListenerContainers.innermostListenerOf(container)
                instanceof MessagingMessageListenerAdapter<?, ?> adapter) {
            // It would stop the current observation, whichever that is.
            adapter.setObservationRegistry(new UnseenObservations());
        }
        return new RecordObservations(container, beanFactory);
    }

    private ObservationRegistry registry(BeanFactory beanFactory) {
        ObservationRegistry own = this.properties.getObservationRegistry();
        return (own.isNoop() && this.properties.isObservationEnabled())
                ? beanFactory.getBeanProvider(ObservationRegistry.class).getIfUnique(() -> own)
                : own;
    }

    public void observe(ConsumerRecord<?, ?> record, @Nullable Consumer<?, ?> consumer, Runnable listener) {
        if (this.registry.get().isNoop()) {
            listener.run();
        } else {
            KafkaListenerObservation.LISTENER_OBSERVATION
                    .observation(
                            this.properties.getObservationConvention(),
                            DefaultKafkaListenerObservationConvention.INSTANCE,
                            () -> new KafkaRecordReceiverContext(
                                    record,
                                    String.valueOf(this.container.getListenerId()),
                                    clientId(consumer),
                                    this.container.getGroupId(),
                                    () -> null),
                            this.registry.get())
                    .observe(listener);
        }
    }

    private static String clientId(@Nullable Consumer<?, ?> consumer) {
        return Stream.ofNullable(consumer)
                .flatMap(known -> known.metrics().keySet().stream())
                .findFirst()
                .map(metric -> metric.tags().get("client-id"))
                .orElse("unknown.client.id");
    }

    /** Has no current observation, unlike Micrometer's no-op registry. */
    private static final class UnseenObservations implements ObservationRegistry {

        private final ObservationConfig config = new ObservationConfig();

        @Override
        public @Nullable Observation getCurrentObservation() {
            return null;
        }

        @Override
        public Observation.@Nullable Scope getCurrentObservationScope() {
            return null;
        }

        @Override
        public void setCurrentObservationScope(Observation.@Nullable Scope current) {}

        @Override
        public ObservationConfig observationConfig() {
            return this.config;
        }
    }
}
