package dev.idempotency.listener;

import dev.idempotency.definition.ProtectedMethods;
import dev.idempotency.kafka.ContainerFacts;
import dev.idempotency.kafka.RecordObservations;
import dev.idempotency.kafka.SpringKafkaInternals;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.kafka.listener.AbstractMessageListenerContainer;
import org.springframework.kafka.listener.BatchInterceptor;
import org.springframework.kafka.listener.CompositeBatchInterceptor;
import org.springframework.kafka.listener.ContainerProperties;
import org.springframework.kafka.listener.ContainerProperties.AckMode;
import org.springframework.kafka.listener.MessageListener;
import org.springframework.kafka.listener.RecordInterceptor;
import org.springframework.kafka.listener.adapter.FilteringMessageListenerAdapter;

/** Makes a batch container of that of a record listener, and does for each record what such a container does not. */
public final class PollContainerConfigurer {

    private final BeanFactory beanFactory;

    public PollContainerConfigurer(BeanFactory beanFactory) {
        this.beanFactory = beanFactory;
    }

    /** Changes the container's settings to those of batches, and returns the listener that it is to have. */
    @SuppressWarnings({"unchecked", "rawtypes"})
    Object prepare(
            @Nullable Object listener, ProtectedMethods methods, AbstractMessageListenerContainer<?, ?> container) {
        ContainerProperties properties = container.getContainerProperties();
        if (properties.getAckMode() == AckMode.RECORD) {
            // A record is done when its poll is.
            properties.setAckMode(AckMode.BATCH);
        }
        RecordObservations.keepFrom(ContainerFacts.innermostListenerOf(container));
        RecordInterceptor interceptor = container.getRecordInterceptor();
        if (interceptor != null) {
            ((AbstractMessageListenerContainer) container)
                    .setBatchInterceptor(ThreadStateInterceptor.of(interceptor, container.getBatchInterceptor()));
        }
        RecordSurroundings surroundings =
                new RecordSurroundings(interceptor, new RecordObservations(container, this.beanFactory));
        if (listener instanceof FilteringMessageListenerAdapter filtering) {
            return new PollDeliveryListener(
                    (MessageListener) filtering.getDelegate(),
                    methods,
                    surroundings,
                    new ReadableRecordFilter(SpringKafkaInternals.filterOf(filtering)));
        }
        if (listener instanceof MessageListener single) {
            return new PollDeliveryListener(single, methods, surroundings, null);
        }
        throw new IllegalStateException(
                "@IdempotentListener has a transaction per poll for record listeners, not for " + listener);
    }

    /** Has a record interceptor prepare and clear the thread of each poll, which batch containers do not ask it for. */
    private record ThreadStateInterceptor<K, V>(RecordInterceptor<K, V> ofRecords) implements BatchInterceptor<K, V> {

        static <K, V> BatchInterceptor<K, V> of(
                RecordInterceptor<K, V> ofRecords, @Nullable BatchInterceptor<K, V> ofBatches) {
            BatchInterceptor<K, V> ours = new ThreadStateInterceptor<>(ofRecords);
            return (ofBatches != null) ? new CompositeBatchInterceptor<>(ours, ofBatches) : ours;
        }

        @Override
        public ConsumerRecords<K, V> intercept(ConsumerRecords<K, V> records, Consumer<K, V> consumer) {
            return records;
        }

        @Override
        public void setupThreadState(Consumer<?, ?> consumer) {
            this.ofRecords.setupThreadState(consumer);
        }

        @Override
        public void clearThreadState(Consumer<?, ?> consumer) {
            this.ofRecords.clearThreadState(consumer);
        }
    }
}
