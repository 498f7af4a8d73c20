package dev.idempotency.redrive;

import dev.idempotency.RecordCoordinates;
import dev.idempotency.kafka.BrokerConnection;
import dev.idempotency.kafka.BrokerQueries;
import dev.idempotency.kafka.PartitionReader;
import dev.idempotency.kafka.PartitionReader.Range;
import dev.idempotency.observe.ConsumerDescription;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import org.apache.kafka.clients.admin.TopicDescription;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.header.Headers;
import org.jspecify.annotations.Nullable;

/**
 * Reads dead-letter topics for one consumer, with what has been sent back of them. However many there are, it has one client
 * per cluster. For one thread.
 */
final class DeadLetterReader implements AutoCloseable {

    private static final String PURPOSE = "dead-letters";

    private final DeadLetterSource source;
    private final int maxRedrives;
    private final Map<BrokerConnection, PartitionReader> readers = new HashMap<>();
    private final SortedMap<String, Uuid> topicIds = new TreeMap<>();
    private final SortedMap<TopicPartition, Range> contents =
            new TreeMap<>(Comparator.comparing(TopicPartition::topic).thenComparingInt(TopicPartition::partition));
    private final Map<TopicPartition, Long> positions = new HashMap<>();

    private DeadLetterReader(DeadLetterSource source, int maxRedrives) {
        this.source = source;
        this.maxRedrives = maxRedrives;
    }

    /** Opens all topics that exist. */
    static DeadLetterReader open(DeadLetterSource source, int maxRedrives) {
        return open(source, source.deadLetterTopics().keySet(), maxRedrives);
    }

    /** Opens those of some topics that exist. */
    static DeadLetterReader open(DeadLetterSource source, Set<String> topics, int maxRedrives) {
        DeadLetterReader reader = new DeadLetterReader(source, maxRedrives);
        try {
            topics.stream().collect(Collectors.groupingBy(source::brokersOf)).forEach(reader::open);
            return reader;
        } catch (RuntimeException ex) {
            reader.close();
            throw ex;
        }
    }

    private void open(BrokerConnection brokers, List<String> topics) {
        Collection<TopicDescription> found;
        try (BrokerQueries queries = new BrokerQueries(brokers, PURPOSE)) {
            found = queries.describe(topics).values();
        }
        if (found.isEmpty()) {
            return;
        }
        PartitionReader reader = new PartitionReader(brokers, PURPOSE, this.source.redriveGroup(), true);
        this.readers.put(brokers, reader);
        List<TopicPartition> partitions = new ArrayList<>();
        found.forEach(topic -> {
            this.topicIds.put(topic.name(), topic.topicId());
            topic.partitions()
                    .forEach(partition -> partitions.add(new TopicPartition(topic.name(), partition.partition())));
        });
        this.contents.putAll(reader.contents(partitions));
        reader.committed(partitions).forEach((partition, committed) -> {
            // Another topic of the same name begins anew.
            if (committed.metadata().equals(topicId(partition))) {
                this.positions.put(partition, committed.offset());
            }
        });
    }

    private String topicId(TopicPartition partition) {
        return String.valueOf(this.topicIds.get(partition.topic()));
    }

    /** The topics that exist, by name. */
    Set<String> topics() {
        return this.topicIds.keySet();
    }

    /** What stood in their partitions when they were opened, by topic and number. */
    SortedMap<TopicPartition, Range> contents() {
        return this.contents;
    }

    /** What stands in a partition and may still be sent back. */
    Range rest(TopicPartition partition) {
        return Objects.requireNonNull(this.contents.get(partition))
                .intersect(new Range(position(partition), Long.MAX_VALUE));
    }

    /** The offset before which nothing of a partition is to be sent back again. */
    private long position(TopicPartition partition) {
        return this.positions.getOrDefault(partition, 0L);
    }

    /** Has the brokers remember that nothing before an offset of a partition is to be sent back again. */
    void commit(TopicPartition partition, long position) {
        if (position > position(partition)) {
            readerOf(partition).commit(Map.of(partition, new OffsetAndMetadata(position, topicId(partition))));
            this.positions.put(partition, position);
        }
    }

    /** Reads what stands in a range of a partition. */
    void read(
            TopicPartition partition,
            Range range,
            BooleanSupplier stopped,
            Consumer<List<ConsumerRecord<byte[], byte[]>>> records) {
        readerOf(partition).read(Map.of(partition, range), stopped, records);
    }

    private PartitionReader readerOf(TopicPartition partition) {
        return Objects.requireNonNull(this.readers.get(this.source.brokersOf(partition.topic())));
    }

    /** Reads all that has come since a time. */
    void readSince(Instant time, BooleanSupplier stopped, Consumer<List<ConsumerRecord<byte[], byte[]>>> records) {
        this.readers.forEach((brokers, reader) -> {
            Map<TopicPartition, Range> there = new HashMap<>(this.contents);
            there.keySet()
                    .removeIf(partition ->
                            !this.source.brokersOf(partition.topic()).equals(brokers));
            reader.read(reader.since(time, there), stopped, records);
        });
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
        if (original == null) {
            return DeadLetterStatus.ASTRAY;
        }
        if (redrives >= this.maxRedrives) {
            return DeadLetterStatus.PARKED;
        }
        if (isForgotten(Instant.ofEpochMilli(record.timestamp()))) {
            return DeadLetterStatus.EXPIRED;
        }
        return (record.offset() < position(partitionOf(record))) ? DeadLetterStatus.REDRIVEN : DeadLetterStatus.PENDING;
    }

    /** Whether its consumer may have processed and forgotten its message since. */
    private boolean isForgotten(Instant deadSince) {
        ConsumerDescription consumer = this.source.description();
        return consumer.strategy().isForgetful()
                && deadSince.isBefore(Instant.now().minus(consumer.retention()));
    }

    static TopicPartition partitionOf(ConsumerRecord<?, ?> record) {
        return new TopicPartition(record.topic(), record.partition());
    }

    @Override
    public void close() {
        this.readers.values().forEach(PartitionReader::close);
    }
}
