package dev.idempotency.kafka;

import dev.idempotency.RecordCoordinates;
import dev.idempotency.TopicUnknownException;
import java.util.Collections;
import java.util.Comparator;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.common.TopicPartition;
import org.jspecify.annotations.Nullable;
import org.springframework.kafka.listener.AbstractMessageListenerContainer;
import org.springframework.kafka.listener.BatchInterceptor;
import org.springframework.kafka.listener.CompositeBatchInterceptor;
import org.springframework.kafka.listener.CompositeRecordInterceptor;
import org.springframework.kafka.listener.RecordInterceptor;

/**
 * Knows, on a consumer's thread, what its container has received before interceptors of the application's own saw it. These
 * may give a record any topic, partition and offset, and a message that is recognised by them would be taken for another.
 */
public final class InterceptedRecords {

    private static final Comparator<ConsumerRecord<?, ?>> BY_OFFSET = Comparator.comparingLong(ConsumerRecord::offset);

    /** What was intercepted last: a record and what has become of it, or a batch. */
    private sealed interface Intercepted {

        record OneRecord(
                ConsumerRecord<?, ?> received, @Nullable ConsumerRecord<?, ?> seen) implements Intercepted {}

        record Batch(ConsumerRecords<?, ?> received) implements Intercepted {}
    }

    private static final ThreadLocal<@Nullable Intercepted> LAST = new ThreadLocal<>();

    private InterceptedRecords() {}

    /** Sees what the interceptors of a container make of its records, if it has any. */
    public static <K, V> void observe(AbstractMessageListenerContainer<K, V> container) {
        RecordInterceptor<K, V> ofRecords = container.getRecordInterceptor();
        if (ofRecords != null) {
            container.setRecordInterceptor(new OfRecords<>(ofRecords));
        }
        BatchInterceptor<K, V> ofBatches = container.getBatchInterceptor();
        if (ofBatches != null) {
            container.setBatchInterceptor(new OfBatches<>(ofBatches));
        }
    }

    /** The record as it was received, of which an interceptor has made the one that a listener is called with. */
    public static ConsumerRecord<?, ?> received(ConsumerRecord<?, ?> seen) {
        return (LAST.get() instanceof Intercepted.OneRecord one && one.seen() == seen) ? one.received() : seen;
    }

    /**
     * Sees that a record of the batch which a listener is called with stands where one stands that was received.
     *
     * @throws TopicUnknownException if it does not, so that it is not known where it does
     */
    public static void requireReceived(RecordCoordinates place) {
        if (LAST.get() instanceof Intercepted.Batch batch && !isIn(batch.received(), place)) {
            throw new TopicUnknownException(
                    ("A BatchInterceptor of the application has put %s into a batch in which Kafka delivered no such record."
                                    + " Its message is recognised by where it stands, and waits, as it would be taken for"
                                    + " another one. Let the interceptor leave topic, partition and offset of records as"
                                    + " they are, or have messages recognised by an id.")
                            .formatted(place),
                    null);
        }
    }

    private static boolean isIn(ConsumerRecords<?, ?> records, RecordCoordinates place) {
        ConsumerRecord<?, ?> wanted =
                new ConsumerRecord<>(place.topic(), place.partition(), place.offset(), null, null);
        return Collections.<ConsumerRecord<?, ?>>binarySearch(
                        records.records(new TopicPartition(place.topic(), place.partition())), wanted, BY_OFFSET)
                >= 0;
    }

    private static final class OfRecords<K, V> extends CompositeRecordInterceptor<K, V> {

        OfRecords(RecordInterceptor<K, V> interceptor) {
            super(interceptor);
        }

        @Override
        public @Nullable ConsumerRecord<K, V> intercept(ConsumerRecord<K, V> record, Consumer<K, V> consumer) {
            ConsumerRecord<K, V> seen = super.intercept(record, consumer);
            LAST.set(new Intercepted.OneRecord(record, seen));
            return seen;
        }

        @Override
        public void clearThreadState(Consumer<?, ?> consumer) {
            LAST.remove();
            super.clearThreadState(consumer);
        }
    }

    private static final class OfBatches<K, V> extends CompositeBatchInterceptor<K, V> {

        OfBatches(BatchInterceptor<K, V> interceptor) {
            super(interceptor);
        }

        @Override
        public @Nullable ConsumerRecords<K, V> intercept(ConsumerRecords<K, V> records, Consumer<K, V> consumer) {
            LAST.set(new Intercepted.Batch(records));
            return super.intercept(records, consumer);
        }

        @Override
        public void clearThreadState(Consumer<?, ?> consumer) {
            LAST.remove();
            super.clearThreadState(consumer);
        }
    }
}
