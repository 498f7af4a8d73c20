package dev.idempotency.kafka;

import java.util.Set;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.common.TopicPartition;
import org.springframework.kafka.listener.AbstractMessageListenerContainer;
import org.springframework.kafka.listener.BatchInterceptor;
import org.springframework.kafka.listener.BatchMessageListener;
import org.springframework.kafka.listener.CompositeBatchInterceptor;
import org.springframework.kafka.listener.CompositeRecordInterceptor;
import org.springframework.kafka.listener.RecordInterceptor;

/** Has received records forgotten before the next poll. It intercepts nothing else. */
final class ReceivedRecordsInterceptor<K, V> implements RecordInterceptor<K, V>, BatchInterceptor<K, V> {

    private final ReceivedRecords received;

    private ReceivedRecordsInterceptor(ReceivedRecords received) {
        this.received = received;
    }

    /** Adds an interceptor to the container's own, if it has one. */
    static <K, V> void install(AbstractMessageListenerContainer<K, V> container, ReceivedRecords received) {
        ReceivedRecordsInterceptor<K, V> ours = new ReceivedRecordsInterceptor<>(received);
        if (container.getContainerProperties().getMessageListener() instanceof BatchMessageListener) {
            BatchInterceptor<K, V> other = container.getBatchInterceptor();
            container.setBatchInterceptor((other != null) ? new CompositeBatchInterceptor<>(ours, other) : ours);
        } else {
            RecordInterceptor<K, V> other = container.getRecordInterceptor();
            container.setRecordInterceptor((other != null) ? new CompositeRecordInterceptor<>(ours, other) : ours);
        }
    }

    @Override
    public void setupThreadState(Consumer<?, ?> consumer) {
        Set<TopicPartition> paused = consumer.paused();
        // While the container holds records of an earlier poll, all partitions are paused.
        if (paused.isEmpty() || !paused.containsAll(consumer.assignment())) {
            this.received.beginPoll();
        }
    }

    @Override
    public ConsumerRecord<K, V> intercept(ConsumerRecord<K, V> record, Consumer<K, V> consumer) {
        return record;
    }

    @Override
    public ConsumerRecords<K, V> intercept(ConsumerRecords<K, V> records, Consumer<K, V> consumer) {
        return records;
    }
}
