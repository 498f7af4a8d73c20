package dev.idempotency.internal.listener;

import dev.idempotency.internal.database.Causes;
import dev.idempotency.internal.definition.ProtectedMethods;
import dev.idempotency.internal.failure.BatchFailure;
import dev.idempotency.internal.failure.ConsumerThreadState;
import dev.idempotency.internal.kafka.KafkaCoordinates;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import org.apache.commons.logging.LogFactory;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.TopicPartition;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.support.AopUtils;
import org.springframework.core.log.LogAccessor;
import org.springframework.kafka.listener.adapter.AbstractDelegatingMessageListenerAdapter;
import org.springframework.kafka.listener.adapter.RecordFilterStrategy;
import org.springframework.kafka.support.KafkaUtils;
import org.springframework.kafka.support.serializer.DeserializationException;
import org.springframework.kafka.support.serializer.SerializationUtils;

/** Wraps a listener to bind what it is given to the thread. */
abstract class DeliveryListener<K, V, T> extends AbstractDelegatingMessageListenerAdapter<T> {

    private static final LogAccessor logger = new LogAccessor(LogFactory.getLog(DeliveryListener.class));

    final ProtectedMethods methods;

    /** The listener's filter, where it must see records before they are bound to the thread. */
    final @Nullable RecordFilterStrategy<K, V> filter;

    DeliveryListener(T delegate, ProtectedMethods methods, @Nullable RecordFilterStrategy<K, V> filter) {
        super(delegate);
        this.methods = methods;
        this.filter = filter;
    }

    @Override
    public void registerSeekCallback(ConsumerSeekCallback callback) {
        super.registerSeekCallback(watch(callback));
    }

    @Override
    public void onPartitionsAssigned(Map<TopicPartition, Long> assignments, ConsumerSeekCallback callback) {
        this.methods.topics().assigned(assignments.keySet());
        ConsumerThreadState.current().starts().putAll(assignments);
        super.onPartitionsAssigned(assignments, watch(callback));
    }

    /** Returns a callback that notices when the application seeks, from whatever thread. Called on the consumer's. */
    private static ConsumerSeekCallback watch(ConsumerSeekCallback callback) {
        ConsumerThreadState state = ConsumerThreadState.current();
        return (ConsumerSeekCallback) Proxy.newProxyInstance(
                DeliveryListener.class.getClassLoader(),
                new Class<?>[] {ConsumerSeekCallback.class},
                (proxy, method, arguments) -> {
                    if (method.getName().startsWith("seek")) {
                        state.starts().clear();
                        Delivery delivery = Delivery.current();
                        if (delivery != null && state == ConsumerThreadState.current()) {
                            delivery.seek(method.getName(), arguments);
                        }
                    }
                    return AopUtils.invokeJoinpointUsingReflection(callback, method, arguments);
                });
    }

    /** Returns why a record could not be read or converted: batch listeners and filters would take it for a tombstone. */
    static @Nullable DeserializationException failureToRead(ConsumerRecord<?, ?> record) {
        DeserializationException ofValue = SerializationUtils.getExceptionFromHeader(
                record, KafkaUtils.VALUE_DESERIALIZER_EXCEPTION_HEADER, logger);
        return (ofValue != null || record.key() != null)
                ? ofValue
                : SerializationUtils.getExceptionFromHeader(
                        record, KafkaUtils.KEY_DESERIALIZER_EXCEPTION_HEADER, logger);
    }

    /** Fails for a record that could not be read: of several, each is then delivered alone. */
    static void requireReadable(ConsumerRecord<?, ?> record) {
        DeserializationException unreadable = failureToRead(record);
        if (unreadable != null) {
            throw unreadable;
        }
    }

    /** Begins a batch or poll, whose order an interceptor may have changed. */
    final ConsumerThreadState begin(List<ConsumerRecord<K, V>> records) {
        ConsumerThreadState state = ConsumerThreadState.current();
        state.begin();
        this.methods.definitions().forEach(each -> each.strategy()
                .requireOrder(records.stream().map(KafkaCoordinates::of)));
        return state;
    }

    /** Delivers records until {@code delivery} says no, and returns whether it never did; names the one that fails. */
    final boolean deliverEach(List<ConsumerRecord<K, V>> records, Predicate<ConsumerRecord<K, V>> delivery) {
        // Error handlers commit the offsets before that one.
        List<ConsumerRecord<K, V>> ordered = new ArrayList<>(records);
        ordered.sort(Comparator.comparingLong(ConsumerRecord::offset));
        for (ConsumerRecord<K, V> record : ordered) {
            ConsumerThreadState.current().begin();
            try {
                if (!delivery.test(record)) {
                    return false;
                }
            } catch (Throwable ex) {
                Causes.rethrowIfFatal(ex);
                throw BatchFailure.at(record, ex);
            }
        }
        return true;
    }
}
