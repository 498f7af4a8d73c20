package dev.idempotency.internal.listener;

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
 * The filter of a batch container, asked only about records that could be read: the others would pass for tombstones.
 */
record ReadableRecordFilter<K, V>(RecordFilterStrategy<K, V> own) implements RecordFilterStrategy<K, V> {

    private static final LogAccessor logger = new LogAccessor(LogFactory.getLog(ReadableRecordFilter.class));

    /** Returns why a record could not be read or converted; a batch listener would take it for a tombstone. */
    static @Nullable DeserializationException failureToRead(ConsumerRecord<?, ?> record) {
        DeserializationException ofValue = SerializationUtils.getExceptionFromHeader(
                record, KafkaUtils.VALUE_DESERIALIZER_EXCEPTION_HEADER, logger);
        if (ofValue != null || record.key() != null) {
            return ofValue;
        }
        return SerializationUtils.getExceptionFromHeader(record, KafkaUtils.KEY_DESERIALIZER_EXCEPTION_HEADER, logger);
    }

    /** Fails for a record that could not be read: of several, each is then delivered alone. */
    static void requireReadable(ConsumerRecord<?, ?> record) {
        DeserializationException unreadable = failureToRead(record);
        if (unreadable != null) {
            throw unreadable;
        }
    }

    @Override
    public boolean filter(ConsumerRecord<K, V> record) {
        return failureToRead(record) == null && this.own.filter(record);
    }

    @Override
    public List<ConsumerRecord<K, V>> filterBatch(List<ConsumerRecord<K, V>> records) {
        records.forEach(ReadableRecordFilter::requireReadable);
        return this.own.filterBatch(records);
    }

    @Override
    public boolean ignoreEmptyBatch() {
        return this.own.ignoreEmptyBatch();
    }
}
