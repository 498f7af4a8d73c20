package dev.idempotency.redrive;

import dev.idempotency.RecordCoordinates;
import dev.idempotency.kafka.BrokerConnection;
import dev.idempotency.kafka.BrokerQueries;
import dev.idempotency.kafka.PartitionReader;
import dev.idempotency.kafka.PartitionReader.Range;
import java.time.Instant;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.header.Headers;
import org.jspecify.annotations.Nullable;

/** Reads one dead-letter topic for one consumer, with what has been sent back of it. For one thread. */
final class DeadLetterReader implements AutoCloseable {

    private static final String PURPOSE = "dead-letters";

    private final DeadLetterSource source;
    private final int maxRedrives;
    private final PartitionReader reader;
    private final Uuid topicId;
    private final Map<TopicPartition, Range> contents;
    private final Map<TopicPartition, RedrivenOffsets> redriven = new HashMap<>();

    private DeadLetterReader(
            DeadLetterSource source,
            int maxRedrives,
            PartitionReader reader,
            Uuid topicId,
            Collection<TopicPartition> partitions) {
        this.source = source;
        this.maxRedrives = maxRedrives;
        this.reader = reader;
        this.topicId = topicId;
        this.contents = reader.contents(partitions);
        Map<TopicPartition, OffsetAndMetadata> committed = reader.committed(partitions);
        this.contents.forEach((partition, range) ->
                this.redriven.put(partition, RedrivenOffsets.of(committed.get(partition), topicId, range)));
    }

    /** Opens a topic; returns {@code null} if it does not exist. */
    static @Nullable DeadLetterReader open(DeadLetterSource source, String topic, int maxRedrives) {
        BrokerConnection brokers =
                Objects.requireNonNull(source.deadLetterTopics().get(topic));
        Uuid topicId;
        try (BrokerQueries queries = new BrokerQueries(brokers, PURPOSE)) {
            topicId = queries.topicId(topic);
        }
        if (topicId == null) {
            return null;
        }
        PartitionReader reader = new PartitionReader(brokers, PURPOSE, source.redriveGroup(), true);
        try {
            return new DeadLetterReader(source, maxRedrives, reader, topicId, reader.partitionsOf(topic));
        } catch (RuntimeException ex) {
            reader.close();
            throw ex;
        }
    }

    /** What stood in its partitions when it was opened. */
    Map<TopicPartition, Range> contents() {
        return this.contents;
    }

    /** The part of them that has come since a time. */
    Map<TopicPartition, Range> contentsSince(Instant time) {
        return this.reader.since(time, this.contents);
    }

    /** What need no more be sent back of a partition. */
    RedrivenOffsets redriven(TopicPartition partition) {
        return Objects.requireNonNull(this.redriven.get(partition));
    }

    void read(
            Map<TopicPartition, Range> ranges,
            BooleanSupplier stopped,
            Consumer<List<ConsumerRecord<byte[], byte[]>>> records) {
        this.reader.read(ranges, stopped, records);
    }

    /** What a record is to the consumer, or {@code null} if it is another consumer's. */
    @Nullable
    DeadLetter letterOf(ConsumerRecord<byte[], byte[]> record) {
        Headers headers = record.headers();
        if (!DeadLetterHeaders.belongsTo(this.source, headers)) {
            return null;
        }
        RecordCoordinates original = DeadLetterHeaders.original(this.source, headers);
        int redrives = DeadLetterHeaders.redrives(headers);
        return new DeadLetter(
                RecordCoordinates.of(record),
                statusOf(record, original, redrives),
                original,
                DeadLetterHeaders.group(headers),
                DeadLetterHeaders.exception(headers),
                DeadLetterHeaders.message(headers),
                Instant.ofEpochMilli(record.timestamp()),
                redrives,
                (record.value() != null) ? record.value().length : null);
    }

    private DeadLetterStatus statusOf(ConsumerRecord<?, ?> record, @Nullable RecordCoordinates original, int redrives) {
        if (redriven(partitionOf(record)).contains(record.offset())) {
            return DeadLetterStatus.REDRIVEN;
        }
        if (original == null) {
            return DeadLetterStatus.ASTRAY;
        }
        return (redrives >= this.maxRedrives) ? DeadLetterStatus.PARKED : DeadLetterStatus.PENDING;
    }

    static TopicPartition partitionOf(ConsumerRecord<?, ?> record) {
        return new TopicPartition(record.topic(), record.partition());
    }

    /**
     * Has it remembered, by the brokers, what need no more be sent back. What other instances have committed meanwhile is
     * kept, and known here from now on.
     */
    void commit() {
        Map<TopicPartition, OffsetAndMetadata> before = this.reader.committed(this.redriven.keySet());
        Map<TopicPartition, OffsetAndMetadata> offsets = new HashMap<>();
        this.redriven.forEach((partition, here) -> {
            long from = Objects.requireNonNull(this.contents.get(partition)).from();
            // They may have come further than the partition had when it was opened here.
            here.addAll(RedrivenOffsets.of(before.get(partition), this.topicId, new Range(from, Long.MAX_VALUE)));
            offsets.put(partition, here.toCommit());
        });
        this.reader.commit(offsets);
    }

    @Override
    public void close() {
        this.reader.close();
    }
}
