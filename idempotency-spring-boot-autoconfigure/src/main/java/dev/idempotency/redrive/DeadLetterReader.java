package dev.idempotency.redrive;

import dev.idempotency.RecordCoordinates;
import dev.idempotency.kafka.BrokerConnection;
import dev.idempotency.kafka.BrokerQueries;
import dev.idempotency.kafka.PartitionReader;
import dev.idempotency.kafka.PartitionReader.Range;
import java.time.Duration;
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
    private final Map<TopicPartition, RedrivenOffsets> redriven = new HashMap<>();

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
        Map<TopicPartition, OffsetAndMetadata> committed = reader.committed(partitions);
        partitions.forEach(partition -> this.redriven.put(
                partition,
                RedrivenOffsets.of(committed.get(partition), topicId(partition), this.contents.get(partition))));
    }

    private Uuid topicId(TopicPartition partition) {
        return Objects.requireNonNull(this.topicIds.get(partition.topic()));
    }

    /** The topics that exist, by name. */
    Set<String> topics() {
        return this.topicIds.keySet();
    }

    /** What stood in their partitions when they were opened, by topic and number. */
    SortedMap<TopicPartition, Range> contents() {
        return this.contents;
    }

    /** What need no more be sent back of a partition. */
    RedrivenOffsets redriven(TopicPartition partition) {
        return Objects.requireNonNull(this.redriven.get(partition));
    }

    /** Reads what stands in a range of a partition. */
    void read(
            TopicPartition partition,
            Range range,
            BooleanSupplier stopped,
            Consumer<List<ConsumerRecord<byte[], byte[]>>> records) {
        Objects.requireNonNull(this.readers.get(this.source.brokersOf(partition.topic())))
                .read(Map.of(partition, range), stopped, records);
    }

    /** Reads all that has come since a time. */
    void readSince(Instant time, BooleanSupplier stopped, Consumer<List<ConsumerRecord<byte[], byte[]>>> records) {
        this.readers.forEach(
                (brokers, reader) -> reader.read(reader.since(time, on(brokers, this.contents)), stopped, records));
    }

    /** The part of something that is about topics on these brokers. */
    private <T> Map<TopicPartition, T> on(BrokerConnection brokers, Map<TopicPartition, T> all) {
        Map<TopicPartition, T> there = new HashMap<>(all);
        there.keySet()
                .removeIf(partition -> !this.source.brokersOf(partition.topic()).equals(brokers));
        return there;
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
        if (redrives >= this.maxRedrives) {
            return DeadLetterStatus.PARKED;
        }
        return isForgotten(Instant.ofEpochMilli(record.timestamp()))
                ? DeadLetterStatus.EXPIRED
                : DeadLetterStatus.PENDING;
    }

    /** Whether its consumer may have processed and forgotten its message since. */
    private boolean isForgotten(Instant deadSince) {
        Duration retention = this.source.retention();
        return retention != null && deadSince.isBefore(Instant.now().minus(retention));
    }

    static TopicPartition partitionOf(ConsumerRecord<?, ?> record) {
        return new TopicPartition(record.topic(), record.partition());
    }

    /**
     * Has it remembered, by the brokers, what need no more be sent back. What other instances have committed meanwhile is
     * kept, and known here from now on.
     */
    void commit() {
        this.readers.forEach((brokers, reader) -> commit(reader, on(brokers, this.redriven)));
    }

    private void commit(PartitionReader reader, Map<TopicPartition, RedrivenOffsets> all) {
        Map<TopicPartition, OffsetAndMetadata> before = reader.committed(all.keySet());
        Map<TopicPartition, OffsetAndMetadata> offsets = new HashMap<>();
        all.forEach((partition, here) -> {
            long from = Objects.requireNonNull(this.contents.get(partition)).from();
            // They may have come further than the partition had when it was opened here.
            here.addAll(RedrivenOffsets.of(before.get(partition), topicId(partition), new Range(from, Long.MAX_VALUE)));
            offsets.put(partition, here.toCommit());
        });
        reader.commit(offsets);
    }

    @Override
    public void close() {
        this.readers.values().forEach(PartitionReader::close);
    }
}
