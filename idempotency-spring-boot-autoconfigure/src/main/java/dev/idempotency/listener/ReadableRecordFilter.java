package dev.idempotency.listener;

import java.util.ArrayList;
import java.util.List;
import org.apache.commons.logging.LogFactory;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.jspecify.annotations.Nullable;
import org.springframework.core.log.LogAccessor;
import org.springframework.kafka.listener.adapter.RecordFilterStrategy;
import org.springframework.kafka.support.KafkaUtils;
import org.springframework.kafka.support.serializer.DeserializationException;
import org.springframework.kafka.support.serializer.SerializationUtils;

/**
 * The filter of a batch container, asked only about records that could be read. The others have no value, as tombstones
 * have none, and would be dropped unseen by a filter that does not want those.
 *
 * @param own the listener's own filter
 */
record ReadableRecordFilter<K, V>(RecordFilterStrategy<K, V> own) implements RecordFilterStrategy<K, V> {

    private static final LogAccessor logger = new LogAccessor(LogFactory.getLog(ReadableRecordFilter.class));

    /**
     * What an {@code ErrorHandlingDeserializer} could not read, or the message converter of a batch could not convert. A
     * record listener's container finds that itself; a batch listener would be called with {@code null}, as for a
     * tombstone.
     */
    static @Nullable DeserializationException failureToRead(ConsumerRecord<?, ?> record) {
        DeserializationException ofValue = SerializationUtils.getExceptionFromHeader(
                record, KafkaUtils.VALUE_DESERIALIZER_EXCEPTION_HEADER, logger);
        if (ofValue != null || record.key() != null) {
            return ofValue;
        }
        return SerializationUtils.getExceptionFromHeader(record, KafkaUtils.KEY_DESERIALIZER_EXCEPTION_HEADER, logger);
    }

    @Override
    public boolean filter(ConsumerRecord<K, V> record) {
        return failureToRead(record) == null && this.own.filter(record);
    }

    @Override
    public List<ConsumerRecord<K, V>> filterBatch(List<ConsumerRecord<K, V>> records) {
        List<ConsumerRecord<K, V>> unreadable =
                records.stream().filter(record -> failureToRead(record) != null).toList();
        if (unreadable.isEmpty()) {
            return this.own.filterBatch(records);
        }
        List<ConsumerRecord<K, V>> readable = new ArrayList<>(records);
        readable.removeAll(unreadable);
        List<ConsumerRecord<K, V>> kept = new ArrayList<>(this.own.filterBatch(readable));
        unreadable.forEach(record -> kept.add(placeAmong(kept, record), record));
        return kept;
    }

    private static <K, V> int placeAmong(List<ConsumerRecord<K, V>> records, ConsumerRecord<K, V> record) {
        for (int i = 0; i < records.size(); i++) {
            ConsumerRecord<K, V> other = records.get(i);
            if (other.partition() == record.partition()
                    && other.topic().equals(record.topic())
                    && other.offset() > record.offset()) {
                return i;
            }
        }
        return records.size();
    }

    @Override
    public boolean ignoreEmptyBatch() {
        return this.own.ignoreEmptyBatch();
    }
}
