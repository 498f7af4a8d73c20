package dev.idempotency.listener;

import java.util.List;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.jspecify.annotations.Nullable;
import org.springframework.kafka.listener.AcknowledgingConsumerAwareMessageListener;
import org.springframework.kafka.listener.BatchAcknowledgingConsumerAwareMessageListener;
import org.springframework.kafka.listener.ConsumerSeekAware;
import org.springframework.kafka.listener.DelegatingMessageListener;
import org.springframework.kafka.listener.adapter.MessagingMessageListenerAdapter;
import org.springframework.kafka.support.Acknowledgment;
import org.springframework.util.ClassUtils;

/**
 * Hides from a container that its listener could be told the positions of partitions, where nobody wants to know them.
 *
 * <p>The adapters of Spring Kafka are all {@link ConsumerSeekAware}, whatever the bean is, and so the container asks for
 * the position of each partition that is assigned, from within the rebalance. A consumer with {@code
 * group.protocol=consumer} that is being stopped gets no answer: it would keep its partitions for a minute.
 */
final class UnpositionedListener {

    private UnpositionedListener() {}

    /** The listener itself, if its bean, or anything between the two that is not Spring Kafka's, may want positions. */
    @SuppressWarnings({"unchecked", "rawtypes"})
    static Object of(Object listener, @Nullable Object given, Object bean) {
        if (bean instanceof ConsumerSeekAware || !isSpringKafkas(given)) {
            return listener;
        }
        if (listener instanceof BatchAcknowledgingConsumerAwareMessageListener batch) {
            return new OfBatches(batch);
        }
        if (listener instanceof AcknowledgingConsumerAwareMessageListener single) {
            return new OfRecords(single);
        }
        return listener;
    }

    private static boolean isSpringKafkas(@Nullable Object given) {
        Object listener = given;
        while (isOfSpringKafka(listener) && listener instanceof DelegatingMessageListener<?> delegating) {
            listener = delegating.getDelegate();
        }
        return isOfSpringKafka(listener) && listener instanceof MessagingMessageListenerAdapter;
    }

    private static boolean isOfSpringKafka(@Nullable Object listener) {
        return listener != null
                && ClassUtils.getPackageName(listener.getClass()).startsWith("org.springframework.kafka.");
    }

    private record OfRecords<K, V>(AcknowledgingConsumerAwareMessageListener<K, V> delegate)
            implements AcknowledgingConsumerAwareMessageListener<K, V>, DelegatingMessageListener<Object> {

        @Override
        public void onMessage(
                ConsumerRecord<K, V> record,
                @Nullable Acknowledgment acknowledgment,
                @Nullable Consumer<?, ?> consumer) {
            this.delegate.onMessage(record, acknowledgment, consumer);
        }

        @Override
        public Object getDelegate() {
            return this.delegate;
        }
    }

    private record OfBatches<K, V>(BatchAcknowledgingConsumerAwareMessageListener<K, V> delegate)
            implements BatchAcknowledgingConsumerAwareMessageListener<K, V>, DelegatingMessageListener<Object> {

        @Override
        public boolean wantsPollResult() {
            return this.delegate.wantsPollResult();
        }

        @Override
        public void onMessage(
                List<ConsumerRecord<K, V>> records,
                @Nullable Acknowledgment acknowledgment,
                @Nullable Consumer<?, ?> consumer) {
            this.delegate.onMessage(records, acknowledgment, consumer);
        }

        @Override
        public void onMessage(
                ConsumerRecords<K, V> records, @Nullable Acknowledgment acknowledgment, Consumer<K, V> consumer) {
            this.delegate.onMessage(records, acknowledgment, consumer);
        }

        @Override
        public Object getDelegate() {
            return this.delegate;
        }
    }
}
