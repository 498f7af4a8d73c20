package dev.idempotency.redrive;

import dev.idempotency.RecordCoordinates;
import dev.idempotency.kafka.BrokerConnection;
import dev.idempotency.kafka.BrokerQueries;
import dev.idempotency.kafka.PartitionReader;
import dev.idempotency.kafka.PartitionReader.Range;
import dev.idempotency.redrive.DeadLetterSourceResolver.Source;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
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
 * Reads the dead-letter topics of a consumer that exist, and up to where their records were sent back, with one client per
 * cluster. For one thread.
 */
final class DeadLetterReader implements AutoCloseable {

    private static final String PURPOSE = "dead-letters";

    /** How many records are looked through for a page. */
    private static final int LARGEST_SCAN = 20_000;

    private final Source source;
    private final int maxRedrives;
    private final Map<BrokerConnection, PartitionReader> readers = new HashMap<>();
    private final SortedMap<String, Uuid> topicIds = new TreeMap<>();
    private final SortedMap<TopicPartition, Range> contents =
            new TreeMap<>(Comparator.comparing(TopicPartition::topic).thenComparingInt(TopicPartition::partition));
    private final Map<TopicPartition, Long> positions = new HashMap<>();

    DeadLetterReader(Source source, int maxRedrives) {
        this.source = source;
        this.maxRedrives = maxRedrives;
        try {
            source.deadLetterTopics().keySet().stream()
                    .collect(Collectors.groupingBy(source::brokersOf))
                    .forEach(this::open);
        } catch (RuntimeException ex) {
            close();
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
            // A topic that was deleted and created again begins anew.
            if (committed.metadata().equals(topicId(partition))) {
                this.positions.put(partition, committed.offset());
            }
        });
    }

    private String topicId(TopicPartition partition) {
        return String.valueOf(this.topicIds.get(partition.topic()));
    }

    /** The records of its partitions when it was opened, by topic and number. */
    SortedMap<TopicPartition, Range> contents() {
        return this.contents;
    }

    /** The records of a partition that may still be sent back. */
    Range rest(TopicPartition partition) {
        return Objects.requireNonNull(this.contents.get(partition))
                .intersect(new Range(position(partition), Long.MAX_VALUE));
    }

    private long position(TopicPartition partition) {
        return this.positions.getOrDefault(partition, 0L);
    }

    /** Has the brokers remember that nothing before an offset is to be sent back again. */
    void commit(TopicPartition partition, long position) {
        if (position > position(partition)) {
            readerOf(partition).commit(Map.of(partition, new OffsetAndMetadata(position, topicId(partition))));
            this.positions.put(partition, position);
        }
    }

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

    /** The original records of the consumer's dead letters since a time. */
    OriginalRecords originalsSince(Instant time, BooleanSupplier stopped) {
        OriginalRecords originals = new OriginalRecords();
        this.readers.forEach((brokers, reader) -> {
            Map<TopicPartition, Range> there = new HashMap<>(this.contents);
            there.keySet().removeIf(partition -> readerOf(partition) != reader);
            reader.read(reader.since(time, there), stopped, records -> records.stream()
                    .filter(record -> DeadLetterHeaders.belongsTo(this.source, record.headers()))
                    .forEach(originals::addOriginalOf));
        });
        return originals;
    }

    /** A record of the consumer's dead letters, or {@code null} if there is none there. */
    @Nullable
    ConsumerRecord<byte[], byte[]> find(RecordCoordinates wanted) {
        TopicPartition partition = new TopicPartition(wanted.topic(), wanted.partition());
        Range there = this.contents.get(partition);
        if (there == null || wanted.offset() < there.from() || wanted.offset() >= there.to()) {
            return null;
        }
        List<ConsumerRecord<byte[], byte[]>> found = new ArrayList<>();
        read(partition, new Range(wanted.offset(), wanted.offset() + 1), () -> false, found::addAll);
        return (found.isEmpty() || letterOf(found.get(0)) == null) ? null : found.get(0);
    }

    /** A page of dead letters: topics by name, their partitions by number, the oldest records first. */
    DeadLetterPage find(DeadLetterQuery query) {
        List<DeadLetter> found = new ArrayList<>();
        List<RecordCoordinates> scanned = new ArrayList<>();
        BooleanSupplier full = () -> found.size() >= query.size() || scanned.size() >= LARGEST_SCAN;
        this.contents.forEach((partition, all) -> {
            Range rest = after(query.after(), partition, all);
            if (!full.getAsBoolean() && rest.length() > 0) {
                read(
                        partition,
                        rest,
                        full,
                        records -> records.forEach(record -> {
                            if (!full.getAsBoolean()) {
                                scanned.add(RecordCoordinates.of(record));
                                DeadLetter letter = letterOf(record);
                                if (letter != null && query.matches(letter)) {
                                    found.add(letter);
                                }
                            }
                        }));
            }
        });
        RecordCoordinates next = full.getAsBoolean() ? scanned.get(scanned.size() - 1) : null;
        return new DeadLetterPage(found, List.copyOf(this.topicIds.keySet()), next);
    }

    private Range after(@Nullable RecordCoordinates last, TopicPartition partition, Range all) {
        int order = (last == null)
                ? 1
                : Objects.requireNonNull(this.contents.comparator())
                        .compare(partition, new TopicPartition(last.topic(), last.partition()));
        if (order > 0) {
            return all;
        }
        long from = (order == 0) ? Math.max(0, last.offset() + 1) : all.to();
        return all.intersect(new Range(from, Long.MAX_VALUE));
    }

    /** Describes a record, or returns {@code null} if it is another consumer's. */
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
        Instant forgotten = Instant.now().minus(this.source.description().retention());
        if (this.source.description().strategy().isForgetful() && record.timestamp() < forgotten.toEpochMilli()) {
            return DeadLetterStatus.EXPIRED;
        }
        long position = position(new TopicPartition(record.topic(), record.partition()));
        return (record.offset() < position) ? DeadLetterStatus.REDRIVEN : DeadLetterStatus.PENDING;
    }

    @Override
    public void close() {
        this.readers.values().forEach(PartitionReader::close);
    }
}
