package dev.idempotency.listener;

import dev.idempotency.ReconciliationException;
import dev.idempotency.RecordCoordinates;
import dev.idempotency.TopicCoordinates;
import dev.idempotency.TopicUnknownException;
import dev.idempotency.UnusableKeyException;
import dev.idempotency.definition.ListenerDefinition;
import dev.idempotency.failure.Causes;
import dev.idempotency.failure.FatalErrors;
import dev.idempotency.kafka.ContainerFacts;
import dev.idempotency.kafka.ListenerDeserializers;
import dev.idempotency.kafka.SpringKafkaInternals;
import dev.idempotency.key.MessageView;
import dev.idempotency.store.Candidate;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.utils.Bytes;
import org.jspecify.annotations.Nullable;
import org.springframework.core.ResolvableType;
import org.springframework.kafka.listener.AbstractMessageListenerContainer;
import org.springframework.kafka.listener.adapter.AbstractFilteringMessageListener;
import org.springframework.kafka.listener.adapter.RecordFilterStrategy;
import org.springframework.messaging.Message;
import org.springframework.util.ClassUtils;

/**
 * Identifies records apart from their delivery as a listener would: with its own deserializers, filter and key. The listener is
 * not called, and nothing is converted: a key from the payload needs a value that is the payload. For one thread.
 */
public final class RecordIdentifier implements AutoCloseable {

    private final ListenerDefinition definition;
    private final @Nullable RecordFilterStrategy<Object, Object> filter;
    private final boolean batch;
    private final @Nullable Class<?> payloadType;
    private final ListenerDeserializers deserializers;
    private final Function<String, @Nullable Uuid> topicIds;

    /**
     * An identifier for the records of a container.
     *
     * @param topicIds who is asked for the ids of topics by their name
     * @throws IllegalStateException if the container is not that of a protected listener
     */
    @SuppressWarnings("unchecked") // A filter is asked about the records of its own container.
    public RecordIdentifier(
            AbstractMessageListenerContainer<?, ?> container, Function<String, @Nullable Uuid> topicIds) {
        List<Object> listeners = ContainerFacts.listenersOf(container);
        DeliveryListener<?> delivery = listeners.stream()
                .filter(DeliveryListener.class::isInstance)
                .<DeliveryListener<?>>map(listener -> (DeliveryListener<?>) listener)
                .findFirst()
                .orElseThrow(() -> new IllegalStateException(
                        "The container %s is not that of a protected listener".formatted(container.getListenerId())));
        this.definition = delivery.methods.representative();
        this.filter = (RecordFilterStrategy<Object, Object>) filterOf(delivery, listeners);
        this.batch = delivery instanceof BatchDeliveryListener;
        this.payloadType = payloadType();
        this.deserializers = new ListenerDeserializers(container);
        this.topicIds = topicIds;
    }

    private static @Nullable RecordFilterStrategy<?, ?> filterOf(DeliveryListener<?> delivery, List<Object> listeners) {
        RecordFilterStrategy<?, ?> own = delivery.filter();
        return (own != null)
                ? own
                : listeners.stream()
                        .filter(AbstractFilteringMessageListener.class::isInstance)
                        .<RecordFilterStrategy<?, ?>>map(listener ->
                                SpringKafkaInternals.filterOf((AbstractFilteringMessageListener<?, ?, ?>) listener))
                        .findFirst()
                        .orElse(null);
    }

    /** The type of one message's payload as the listener's method takes it; {@code null} if it takes the record itself. */
    private @Nullable Class<?> payloadType() {
        ResolvableType parameter = this.definition.method().payload();
        if (parameter == null) {
            return null;
        }
        ResolvableType type = this.batch ? parameter.asCollection().getGeneric() : parameter;
        if (Message.class.isAssignableFrom(type.toClass())) {
            type = type.as(Message.class).getGeneric();
        }
        return ConsumerRecord.class.isAssignableFrom(type.toClass())
                ? null
                : ClassUtils.resolvePrimitiveIfNecessary(type.toClass());
    }

    /**
     * Says what a record is to the listener.
     *
     * @throws ReconciliationException if its key comes from a payload that a converter makes of its value
     * @throws TopicUnknownException if its key depends on its topic, and the brokers do not tell its id
     * @throws RuntimeException if a deserializer or the key depends on a service that does not answer
     */
    public RecordIdentification identify(ConsumerRecord<byte[], byte[]> received) {
        ConsumerRecord<@Nullable Object, @Nullable Object> record;
        try {
            record = this.deserializers.deserialize(received);
        } catch (RuntimeException | StackOverflowError ex) {
            if (Causes.of(ex).tellOfUnavailableService()) {
                throw ex;
            }
            return RecordIdentification.UNREADABLE;
        }
        if (ReadableRecordFilter.failureToRead(record) != null) {
            return RecordIdentification.UNREADABLE;
        }
        if (isLeftOut(record)) {
            return RecordIdentification.FILTERED;
        }
        tellTopic(record);
        return identifyReadable(record);
    }

    /** A filter that fails leaves nothing out: the delivery would fail, too. */
    @SuppressWarnings("unchecked") // See the constructor.
    private boolean isLeftOut(ConsumerRecord<?, ?> record) {
        if (this.filter == null) {
            return false;
        }
        ConsumerRecord<Object, Object> filtered = (ConsumerRecord<Object, Object>) record;
        try {
            return this.batch
                    ? this.filter
                            .filterBatch(new ArrayList<>(List.of(filtered)))
                            .isEmpty()
                    : this.filter.filter(filtered);
        } catch (Throwable ex) {
            FatalErrors.rethrow(ex);
            return false;
        }
    }

    /**
     * Adds the topic's id to the record's headers, for keys that contain it. The container's own tracking of topics must not
     * see records that were delivered long ago.
     */
    private void tellTopic(ConsumerRecord<?, ?> record) {
        RecordCoordinates original = RecordCoordinates.original(record);
        if (TopicCoordinates.toldBy(record, original) == null) {
            Uuid found = this.topicIds.apply(original.topic());
            Uuid id = (found != null) ? found : this.topicIds.apply(record.topic());
            if (id != null) {
                TopicCoordinates.of(id, original).tellBy(record);
            }
        }
    }

    private RecordIdentification identifyReadable(ConsumerRecord<?, ?> record) {
        try {
            Candidate candidate = this.definition.candidates().create(0, new UnconvertedMessage(record));
            return RecordIdentification.of((candidate != null) ? candidate.id() : null);
        } catch (UnusableKeyException ex) {
            if (ex.getCause() instanceof ReconciliationException conversion) {
                if (isText(record.value())) {
                    throw conversion;
                }
                return RecordIdentification.UNREADABLE;
            }
            if (this.definition.keyFailures().isToBeWaitedFor(ex)) {
                throw ex;
            }
            return RecordIdentification.WITHOUT_KEY;
        }
    }

    /** Whether a value is what message converters make payloads of. */
    private static boolean isText(@Nullable Object value) {
        return value instanceof String || value instanceof byte[] || value instanceof Bytes;
    }

    @Override
    public void close() {
        this.deserializers.close();
    }

    /** A message whose payload is its record's value. */
    private final class UnconvertedMessage implements MessageView {

        private final ConsumerRecord<?, ?> record;

        UnconvertedMessage(ConsumerRecord<?, ?> record) {
            this.record = record;
        }

        @Override
        public ConsumerRecord<?, ?> record() {
            return this.record;
        }

        @Override
        public @Nullable Object payload() {
            Object value = this.record.value();
            Class<?> type = RecordIdentifier.this.payloadType;
            if (value != null && type != null && !type.isInstance(value)) {
                throw new ReconciliationException(
                        "The value of %s is a %s, of which the listener's method gets a %s. Only keys from headers, from the record or from a payload that is not converted can be reconciled."
                                .formatted(
                                        RecordCoordinates.of(this.record),
                                        value.getClass().getName(),
                                        type.getName()),
                        null);
            }
            return value;
        }

        /** The payload, by the name of its parameter: other arguments are refused before. */
        @Override
        public @Nullable Object argument(int index) {
            return (RecordIdentifier.this.payloadType == null) ? this.record : payload();
        }
    }
}
