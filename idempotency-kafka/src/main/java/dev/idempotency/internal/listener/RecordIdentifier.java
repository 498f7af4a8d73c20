package dev.idempotency.internal.listener;

import dev.idempotency.InvalidMessageKeyException;
import dev.idempotency.MessageId;
import dev.idempotency.OperatorActionException;
import dev.idempotency.RecordCoordinates;
import dev.idempotency.internal.database.Causes;
import dev.idempotency.internal.dedup.InboundMessage;
import dev.idempotency.internal.definition.InboundMessageFactory;
import dev.idempotency.internal.definition.ListenerDefinition;
import dev.idempotency.internal.failure.OutageRegistry;
import dev.idempotency.internal.kafka.KafkaCoordinates;
import dev.idempotency.internal.kafka.ListenerContainers;
import dev.idempotency.internal.kafka.ListenerDeserializers;
import dev.idempotency.internal.kafka.SpringKafkaInternals;
import dev.idempotency.internal.kafka.TopicCoordinates;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.utils.Bytes;
import org.jspecify.annotations.Nullable;
import org.springframework.core.ResolvableType;
import org.springframework.kafka.listener.AbstractMessageListenerContainer;
import org.springframework.kafka.listener.DelegatingMessageListener;
import org.springframework.kafka.listener.adapter.AbstractFilteringMessageListener;
import org.springframework.kafka.listener.adapter.RecordFilterStrategy;
import org.springframework.messaging.Message;
import org.springframework.util.ClassUtils;

/**
 * Identifies records apart from their delivery as a listener would: with its own deserializers, filter and key. The listener is
 * not called, and nothing is converted: a key from the payload needs a value that is the payload. For one thread.
 */
public final class RecordIdentifier implements AutoCloseable {

    public enum Kind {

        /** A message with an id. */
        IDENTIFIED,

        /** A record that the listener's filter leaves out. */
        FILTERED,

        /** A record that cannot be deserialized or converted. */
        UNREADABLE,

        /** A message without a key, or with one that cannot be used. */
        WITHOUT_KEY
    }

    /** The kind of a record, and its id, if it has one. */
    public record Identification(Kind kind, @Nullable MessageId id) {}

    private final ListenerDefinition definition;
    private final InboundMessageFactory messages;
    private final @Nullable RecordFilterStrategy<Object, Object> filter;
    private final @Nullable Class<?> payloadType;
    private final ListenerDeserializers deserializers;
    private final Function<String, @Nullable Uuid> topicIds;

    @SuppressWarnings("unchecked") // A filter is asked about the records of its own container.
    public RecordIdentifier(
            AbstractMessageListenerContainer<?, ?> container, Function<String, @Nullable Uuid> topicIds) {
        Object listener = ListenerContainers.listenerOf(container);
        // Retry topics have another one around it.
        while (listener instanceof DelegatingMessageListener<?> outer && !(listener instanceof DeliveryListener)) {
            listener = outer.getDelegate();
        }
        DeliveryListener<?, ?, ?> delivery = (DeliveryListener<?, ?, ?>) listener;
        this.definition = delivery.methods.representative();
        this.messages = this.definition.messageFactory().withoutLocks();
        this.filter = (RecordFilterStrategy<Object, Object>)
                ((delivery.getDelegate() instanceof AbstractFilteringMessageListener<?, ?, ?> filtering)
                        ? SpringKafkaInternals.filterOf(filtering)
                        : delivery.filter);
        this.payloadType = payloadType(delivery instanceof BatchDeliveryListener);
        this.deserializers = new ListenerDeserializers(container);
        this.topicIds = topicIds;
    }

    /** The type of one message's payload as the listener's method takes it; {@code null} if the record has the key. */
    private @Nullable Class<?> payloadType(boolean batch) {
        ResolvableType parameter = this.definition.method().payload();
        if (parameter == null || this.messages.variables().isEmpty()) {
            return null;
        }
        ResolvableType type = batch ? parameter.asCollection().getGeneric() : parameter;
        if (Message.class.isAssignableFrom(type.toClass())) {
            type = type.as(Message.class).getGeneric();
        }
        return ConsumerRecord.class.isAssignableFrom(type.toClass())
                ? null
                : ClassUtils.resolvePrimitiveIfNecessary(type.toClass());
    }

    /**
     * Says what a record is to the listener. Throws if that cannot be said: its key is in a payload that a converter
     * makes, or a broker or service does not answer.
     */
    public Identification identify(ConsumerRecord<byte[], byte[]> received) {
        ConsumerRecord<@Nullable Object, @Nullable Object> record;
        try {
            record = this.deserializers.deserialize(received);
        } catch (RuntimeException | StackOverflowError ex) {
            if (OutageRegistry.isServiceUnavailable(ex)) {
                throw ex;
            }
            return new Identification(Kind.UNREADABLE, null);
        }
        boolean readable = DeliveryListener.failureToRead(record) == null;
        if (readable && isLeftOut(record)) {
            return new Identification(Kind.FILTERED, null);
        }
        if (!readable || !isPayload(record)) {
            return new Identification(Kind.UNREADABLE, null);
        }
        tellTopic(record);
        try {
            InboundMessage message = this.messages.create(
                    0, new PollDeliveryListener.UnconvertedMessage(record, this.payloadType == null));
            MessageId id = (message != null) ? message.id() : null;
            return new Identification((id != null) ? Kind.IDENTIFIED : Kind.WITHOUT_KEY, id);
        } catch (InvalidMessageKeyException ex) {
            if (this.definition.keyFailures().isToBeWaitedFor(ex)) {
                throw ex;
            }
            return new Identification(Kind.WITHOUT_KEY, null);
        }
    }

    /** Whether a key can be taken from the record's value. Text is what message converters make payloads of. */
    private boolean isPayload(ConsumerRecord<?, ?> record) {
        Object value = record.value();
        Class<?> type = this.payloadType;
        if (value == null || type == null || type.isInstance(value)) {
            return true;
        }
        if (value instanceof String || value instanceof byte[] || value instanceof Bytes) {
            throw new OperatorActionException(
                    "The value of %s is a %s, of which the listener's method gets a %s. Only keys from headers, from the record or from a payload that is not converted can be reconciled."
                            .formatted(
                                    KafkaCoordinates.of(record),
                                    value.getClass().getName(),
                                    type.getName()),
                    null);
        }
        return false;
    }

    /** A filter that fails leaves nothing out: the delivery would fail, too. */
    @SuppressWarnings("unchecked") // See the constructor.
    private boolean isLeftOut(ConsumerRecord<?, ?> record) {
        if (this.filter == null) {
            return false;
        }
        ConsumerRecord<Object, Object> filtered = (ConsumerRecord<Object, Object>) record;
        try {
            return this.filter.filterBatch(new ArrayList<>(List.of(filtered))).isEmpty();
        } catch (Throwable ex) {
            Causes.rethrowIfFatal(ex);
            return false;
        }
    }

    /**
     * Adds the topic's id for keys that contain it: the container's tracker must not see records delivered long ago.
     */
    private void tellTopic(ConsumerRecord<?, ?> record) {
        RecordCoordinates original = KafkaCoordinates.original(record);
        if (TopicCoordinates.toldBy(record, original) == null) {
            Uuid found = this.topicIds.apply(original.topic());
            Uuid id = (found != null) ? found : this.topicIds.apply(record.topic());
            if (id != null) {
                TopicCoordinates.of(id, original).tellBy(record);
            }
        }
    }

    @Override
    public void close() {
        this.deserializers.close();
    }
}
