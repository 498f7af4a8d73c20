package dev.idempotency.failure;

import dev.idempotency.kafka.ReceivedRecords;
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

/**
 * Looks before each poll where its consumer stands, and after it whether what it waits for can still come. It intercepts
 * nothing: an interceptor is what containers call on the consumer's thread also if a poll returns no record.
 */
final class OutageInterceptor<K, V> implements RecordInterceptor<K, V>, BatchInterceptor<K, V> {

    private final Outage outage;
    private final ReceivedRecords received;

    private OutageInterceptor(Outage outage, ReceivedRecords received) {
        this.outage = outage;
        this.received = received;
    }

    /** Adds an interceptor to the container's own, if it has one. */
    static <K, V> void install(
            AbstractMessageListenerContainer<K, V> container, Outage outage, ReceivedRecords received) {
        OutageInterceptor<K, V> ours = new OutageInterceptor<>(outage, received);
        if (container.getContainerProperties().getMessageListener() instanceof BatchMessageListener) {
            BatchInterceptor<K, V> other = container.getBatchInterceptor();
            container.setBatchInterceptor(
                    (other != null)
                            ? new CompositeBatchInterceptor<>(ours, new GuardedInterceptor.OfBatches<>(other))
                            : ours);
        } else {
            RecordInterceptor<K, V> other = container.getRecordInterceptor();
            container.setRecordInterceptor(
                    (other != null)
                            ? new CompositeRecordInterceptor<>(ours, new GuardedInterceptor.OfRecords<>(other))
                            : ours);
        }
    }

    @Override
    public void setupThreadState(Consumer<?, ?> consumer) {
        PollPositions.begin(consumer);
        Set<TopicPartition> paused = consumer.paused();
        // While the container holds records of an earlier poll, all partitions are paused.
        if (paused.isEmpty() || !paused.containsAll(consumer.assignment())) {
            this.received.beginPoll();
        }
    }

    @Override
    public void clearThreadState(Consumer<?, ?> consumer) {
        this.outage.stopWaitingIfPassed(consumer);
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
