package dev.idempotency.chaos.consumer;

import java.util.Map;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.kafka.listener.BatchInterceptor;
import org.springframework.kafka.listener.RecordInterceptor;
import org.springframework.stereotype.Component;

/** Commits the offsets of records before the listener is called with them, so that a crash in between loses them. */
@Component
@ConditionalOnProperty(name = "chaos.sabotage", havingValue = "OFFSET_FIRST")
class OffsetsFirst implements RecordInterceptor<Object, Object>, BatchInterceptor<Object, Object> {

    @Override
    public ConsumerRecord<Object, Object> intercept(
            ConsumerRecord<Object, Object> record, Consumer<Object, Object> consumer) {
        commit(record, consumer);
        pause(100);
        return record;
    }

    @Override
    public ConsumerRecords<Object, Object> intercept(
            ConsumerRecords<Object, Object> records, Consumer<Object, Object> consumer) {
        records.forEach(record -> commit(record, consumer));
        pause(200);
        return records;
    }

    /** Leaves time for a kill. */
    static void pause(int millis) {
        try {
            Thread.sleep(millis);
        } catch (InterruptedException ex) {
            Thread.currentThread().interrupt();
        }
    }

    private static void commit(ConsumerRecord<Object, Object> record, Consumer<Object, Object> consumer) {
        consumer.commitSync(Map.of(
                new TopicPartition(record.topic(), record.partition()), new OffsetAndMetadata(record.offset() + 1)));
    }
}
