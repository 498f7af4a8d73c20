package dev.idempotency.listener;

import dev.idempotency.RecordCoordinates;
import dev.idempotency.TopicCoordinates;
import dev.idempotency.TopicUnknownException;
import dev.idempotency.UnusableKeyException;
import dev.idempotency.definition.CalledMethods;
import dev.idempotency.definition.ListenerDefinition;
import dev.idempotency.definition.ProtectedMethods;
import dev.idempotency.failure.FatalErrors;
import dev.idempotency.failure.UnavailableService;
import dev.idempotency.kafka.ContainerFacts;
import dev.idempotency.kafka.ListenerArguments;
import dev.idempotency.kafka.ListenerDeserializers;
import dev.idempotency.kafka.SpringKafkaInternals;
import dev.idempotency.key.MessageView;
import java.io.Serial;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Objects;
import java.util.function.Function;
import java.util.function.Supplier;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.Uuid;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.support.AopUtils;
import org.springframework.kafka.listener.AbstractMessageListenerContainer;
import org.springframework.kafka.listener.adapter.AbstractFilteringMessageListener;
import org.springframework.kafka.listener.adapter.MessagingMessageListenerAdapter;
import org.springframework.kafka.listener.adapter.RecordFilterStrategy;

/**
 * Identifies records apart from their delivery as a listener would: with its own deserializers, filter, conversion and key.
 * The listener is not called. For one thread.
 */
public final class RecordIdentifier implements AutoCloseable {

    private final ProtectedMethods methods;
    private final @Nullable RecordFilterStrategy<Object, Object> filter;
    private final boolean batch;
    private final @Nullable MessagingMessageListenerAdapter<?, ?> adapter;
    private final boolean hasHandlers;
    private final @Nullable Class<?> targetClass;
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
        this.methods = delivery.methods;
        this.filter = (RecordFilterStrategy<Object, Object>) filterOf(delivery, listeners);
        this.batch = delivery instanceof BatchDeliveryListener;
        this.adapter =
                (ContainerFacts.innermostListenerOf(container) instanceof MessagingMessageListenerAdapter<?, ?> calling)
                        ? calling
                        : null;
        CalledMethods called = CalledMethods.of(container);
        this.hasHandlers = called != null && called.methods().size() > 1;
        this.targetClass = (called != null) ? AopUtils.getTargetClass(called.bean()) : null;
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

    /** Why the records of a container cannot be held against what is remembered, or {@code null} if they can. */
    public static @Nullable String refusal(AbstractMessageListenerContainer<?, ?> container) {
        return ContainerFacts.listenersOf(container).stream()
                .filter(DeliveryListener.class::isInstance)
                .flatMap(listener -> ((DeliveryListener<?>) listener).methods.definitions().stream())
                .map(ListenerDefinition::reconciliationRefusal)
                .filter(Objects::nonNull)
                .findFirst()
                .orElse(null);
    }

    private Collection<ListenerDefinition> definitions() {
        return this.methods.definitions();
    }

    /**
     * Says what a record is to the listener.
     *
     * @throws TopicUnknownException if its key depends on its topic, and the brokers do not tell its id
     * @throws RuntimeException if a deserializer or the key depends on a service that does not answer
     */
    public RecordIdentification identify(ConsumerRecord<byte[], byte[]> received) {
        ConsumerRecord<@Nullable Object, @Nullable Object> record;
        try {
            record = this.deserializers.deserialize(received);
        } catch (RuntimeException | StackOverflowError ex) {
            if (UnavailableService.isCauseOf(ex)) {
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
        return identify(record, new Conversion(record));
    }

    /** A filter that fails leaves nothing out: the delivery fails, and the record is given up or tried again. */
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
     * Has the record tell of its topic itself, where its key may ask for it. The container's own knowledge of topics is of
     * what it delivers, and must not be confused by what was delivered long ago.
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

    private RecordIdentification identify(ConsumerRecord<?, ?> record, Conversion conversion) {
        try {
            ListenerDefinition definition = this.hasHandlers
                    ? this.methods.definitionOf(conversion.get().method(), this.targetClass)
                    : definitions().iterator().next();
            // Not every handler of a class need be protected.
            return (definition != null) ? identify(record, conversion, definition) : RecordIdentification.FILTERED;
        } catch (ConversionFailure ex) {
            return RecordIdentification.UNREADABLE;
        }
    }

    private RecordIdentification identify(
            ConsumerRecord<?, ?> record, Conversion conversion, ListenerDefinition definition) {
        MessageView view = new ArgumentsView(
                definition.method(),
                List.of(record),
                this.batch,
                () -> conversion.get().arguments(),
                0);
        try {
            return RecordIdentification.of(
                    definition.candidates().create(0, view).id());
        } catch (UnusableKeyException ex) {
            if (definition.keyFailures().isToBeWaitedFor(ex)) {
                throw ex;
            }
            return conversion.failed ? RecordIdentification.UNREADABLE : RecordIdentification.WITHOUT_KEY;
        }
    }

    @Override
    public void close() {
        this.deserializers.close();
    }

    /** What the listener would be called with, found when it is first asked for. */
    private final class Conversion implements Supplier<ListenerArguments> {

        private final ConsumerRecord<?, ?> record;
        private @Nullable ListenerArguments converted;
        private boolean failed;

        Conversion(ConsumerRecord<?, ?> record) {
            this.record = record;
        }

        @Override
        public ListenerArguments get() {
            if (this.converted == null) {
                try {
                    if (RecordIdentifier.this.adapter == null) {
                        throw new IllegalStateException("The listener is no method of a bean");
                    }
                    this.converted = ListenerArguments.of(RecordIdentifier.this.adapter, this.record);
                } catch (RuntimeException ex) {
                    this.failed = true;
                    throw new ConversionFailure(ex);
                }
            }
            return this.converted;
        }
    }

    /** The listener could not be called with a record. */
    private static final class ConversionFailure extends RuntimeException {

        @Serial
        private static final long serialVersionUID = 1L;

        ConversionFailure(RuntimeException cause) {
            super(cause);
        }
    }
}
