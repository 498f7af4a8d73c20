package dev.idempotency.listener;

import java.util.ArrayList;
import java.util.List;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.springframework.kafka.listener.adapter.RecordFilterStrategy;

/**
 * The filter of a batch listener, asked only about records that could be read. The others have no value, as tombstones
 * have none, and would be dropped unseen by a filter that does not want those.
 */
final class ReadableRecordFilter<K, V> implements RecordFilterStrategy<K, V> {

    private final RecordFilterStrategy<K, V> own;

    ReadableRecordFilter(RecordFilterStrategy<K, V> own) {
        this.own = own;
    }

    @Override
    public boolean filter(ConsumerRecord<K, V> record) {
        return DeserializationFailure.find(record) == null && this.own.filter(record);
    }

    @Override
    public List<ConsumerRecord<K, V>> filterBatch(List<ConsumerRecord<K, V>> records) {
        List<ConsumerRecord<K, V>> unreadable = records.stream()
                .filter(record -> DeserializationFailure.find(record) != null)
                .toList();
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
