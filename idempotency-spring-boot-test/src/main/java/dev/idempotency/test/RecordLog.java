package dev.idempotency.test;

import dev.idempotency.RecordCoordinates;
import dev.idempotency.internal.kafka.ProducerSerializers;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.header.Headers;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.kafka.core.ProducerFactory;
import org.springframework.util.Assert;

/** Assigns offsets to records, and serializes them as the application's producers do. */
final class RecordLog {

    private final ProducerSerializers serializers;
    private final Map<TopicPartition, Long> nextOffsets = new ConcurrentHashMap<>();

    RecordLog(ObjectProvider<ProducerFactory<?, ?>> producers) {
        this.serializers = new ProducerSerializers(() -> unique(producers));
    }

    LoggedRecord append(ProducerRecord<?, ?> record) {
        int partition = (record.partition() != null) ? record.partition() : 0;
        Headers headers = new RecordHeaders(LoggedRecord.copy(record.headers()));
        byte[] key = this.serializers.serialize(true, record.topic(), headers, record.key());
        byte[] value = this.serializers.serialize(false, record.topic(), headers, record.value());
        return new LoggedRecord(
                new RecordCoordinates(
                        record.topic(), partition, nextOffset(new TopicPartition(record.topic(), partition))),
                (record.timestamp() != null) ? record.timestamp() : System.currentTimeMillis(),
                LoggedRecord.copy(headers),
                key,
                value,
                true);
    }

    /** Adds a record at its offset. Records that are appended later follow it. */
    LoggedRecord place(ConsumerRecord<?, ?> record) {
        LoggedRecord placed = LoggedRecord.of(record);
        this.nextOffsets.merge(placed.partition(), placed.offset() + 1, Math::max);
        return placed;
    }

    /** Returns a copy with a new offset. */
    LoggedRecord republish(LoggedRecord record) {
        return record.republishedAt(nextOffset(record.partition()));
    }

    private long nextOffset(TopicPartition partition) {
        return this.nextOffsets.merge(partition, 1L, Long::sum) - 1;
    }

    private static ProducerFactory<?, ?> unique(ObjectProvider<ProducerFactory<?, ?>> producers) {
        ProducerFactory<?, ?> factory = producers.getIfUnique();
        Assert.state(
                factory != null,
                "A ProducerFactory is needed to serialize objects, but there is none, or there are several and none is"
                        + " @Primary. Deliver bytes, text or a ConsumerRecord instead.");
        return factory;
    }
}
