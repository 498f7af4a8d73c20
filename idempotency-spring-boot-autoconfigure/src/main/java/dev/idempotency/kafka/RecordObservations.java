package dev.idempotency.kafka;

import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationRegistry;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.apache.kafka.clients.admin.AdminClientConfig;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.kafka.core.KafkaAdmin;
import org.springframework.kafka.listener.AbstractMessageListenerContainer;
import org.springframework.kafka.listener.ContainerProperties;
import org.springframework.kafka.listener.adapter.MessagingMessageListenerAdapter;
import org.springframework.kafka.support.micrometer.KafkaListenerObservation;
import org.springframework.kafka.support.micrometer.KafkaListenerObservation.DefaultKafkaListenerObservationConvention;
import org.springframework.kafka.support.micrometer.KafkaRecordReceiverContext;
import org.springframework.util.function.SingletonSupplier;

/**
 * The observations that a container of a record listener has around each record, where it has been made one of batches: with
 * the same names, tags and parents.
 */
public final class RecordObservations {

    private final AbstractMessageListenerContainer<?, ?> container;
    private final ContainerProperties properties;
    private final Supplier<ObservationRegistry> registry;
    private final Supplier<Optional<String>> clusterId;

    /** Of child containers, by the id of their client: asking for one may have to wait for a container that is stopped. */
    private final Map<String, String> listenerIds = new ConcurrentHashMap<>();

    /** Looks for registry and admin client when there are records: they may not have been made yet. */
    public RecordObservations(AbstractMessageListenerContainer<?, ?> container, BeanFactory beanFactory) {
        this.container = container;
        this.properties = container.getContainerProperties();
        this.registry = SingletonSupplier.of(() -> registry(beanFactory));
        this.clusterId = SingletonSupplier.of(() -> Optional.ofNullable(clusterId(beanFactory)));
    }

    private ObservationRegistry registry(BeanFactory beanFactory) {
        ObservationRegistry own = this.properties.getObservationRegistry();
        return (own.isNoop() && this.properties.isObservationEnabled())
                ? beanFactory.getBeanProvider(ObservationRegistry.class).getIfUnique(() -> own)
                : own;
    }

    private @Nullable String clusterId(BeanFactory beanFactory) {
        KafkaAdmin own = this.container.getKafkaAdmin();
        KafkaAdmin admin = (own == null && this.properties.isObservationEnabled())
                ? beanFactory.getBeanProvider(KafkaAdmin.class).getIfUnique()
                : own;
        if (admin == null) {
            return null;
        }
        Map<String, Object> settings = new HashMap<>(admin.getConfigurationProperties());
        Object servers =
                ContainerFacts.consumerSettings(this.container).get(AdminClientConfig.BOOTSTRAP_SERVERS_CONFIG);
        if (own == null
                && servers != null
                && !servers.equals(settings.get(AdminClientConfig.BOOTSTRAP_SERVERS_CONFIG))) {
            settings.put(AdminClientConfig.BOOTSTRAP_SERVERS_CONFIG, servers);
            int timeout = admin.getOperationTimeout();
            admin = new KafkaAdmin(settings);
            admin.setOperationTimeout(timeout);
        }
        return admin.clusterId();
    }

    /** Has a listener leave observations alone, which it would stop when its method returns: they are to end later. */
    public static void keepFrom(@Nullable Object listener) {
        if (listener instanceof MessagingMessageListenerAdapter<?, ?> adapter) {
            adapter.setObservationRegistry(new UnseenObservations());
        }
    }

    /** Whether anybody observes. */
    public boolean areOn() {
        return !this.registry.get().isNoop();
    }

    /** One that has not been started. */
    public Observation of(ConsumerRecord<?, ?> record, @Nullable Consumer<?, ?> consumer) {
        return KafkaListenerObservation.LISTENER_OBSERVATION.observation(
                this.properties.getObservationConvention(),
                DefaultKafkaListenerObservationConvention.INSTANCE,
                () -> context(record, clientId(consumer)),
                this.registry.get());
    }

    private KafkaRecordReceiverContext context(ConsumerRecord<?, ?> record, String clientId) {
        String listenerId = this.listenerIds.computeIfAbsent(clientId, client -> this.container
                .getContainerFor(record.topic(), record.partition())
                .getListenerId());
        return new KafkaRecordReceiverContext(
                record, listenerId, clientId, this.container.getGroupId(), () -> this.clusterId
                        .get()
                        .orElse(null));
    }

    private static String clientId(@Nullable Consumer<?, ?> consumer) {
        return Stream.ofNullable(consumer)
                .flatMap(known -> known.metrics().keySet().stream())
                .findFirst()
                .map(metric -> metric.tags().get("client-id"))
                .orElse("unknown.client.id");
    }

    /** Tells of no current observation; the no-op registry of Micrometer does. */
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
