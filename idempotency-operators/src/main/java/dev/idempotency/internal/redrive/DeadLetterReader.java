package dev.idempotency.internal.redrive;

import dev.idempotency.RecordCoordinates;
import dev.idempotency.event.ConsumerDescription;
import dev.idempotency.internal.job.PartitionReader;
import dev.idempotency.internal.job.PartitionReader.Range;
import dev.idempotency.internal.kafka.BrokerConnection;
import dev.idempotency.internal.kafka.KafkaCoordinates;
import dev.idempotency.job.Page;
import dev.idempotency.redrive.DeadLetter;
import dev.idempotency.redrive.DeadLetterQuery;
import dev.idempotency.redrive.DeadLetterStatus;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.header.Headers;
import org.jspecify.annotations.Nullable;

/** Reads the dead-letter topics of a consumer that exist, and up to where their records were sent back. For one thread. */
final class DeadLetterReader implements AutoCloseable {

    /**
     * Where the dead letters of a consumer are, and where they belong.
     *
     * @param listener where it reads from
     * @param topics its own topics, without its retry topics
     * @param deadLetterTopics topics that may exist
     * @param deadLetterBrokers the brokers that they are on
     */
    record Source(
            ConsumerDescription description,
            Set<String> groups,
            BrokerConnection listener,
            Set<String> topics,
            SortedSet<String> deadLetterTopics,
            BrokerConnection deadLetterBrokers,
            int maxRedrives) {

        String consumer() {
            return this.description.name();
        }

        /** The group whose offsets say what has been sent back. It begins as the listener's, as grants often do. */
        String redriveGroup() {
            return this.groups.stream().sorted().findFirst().orElse("idempotency") + ".redrive." + consumer();
        }
    }

    /** How many records are looked through for a page. */
    private static final int LARGEST_SCAN = 20_000;

    private static final Comparator<TopicPartition> ORDER =
            Comparator.comparing(TopicPartition::topic).thenComparingInt(TopicPartition::partition);

    private final Source source;
    private final PartitionReader reader;
    private final SortedMap<TopicPartition, Range> contents = new TreeMap<>(ORDER);
    private final Map<TopicPartition, Long> positions = new HashMap<>();

    DeadLetterReader(Source source) {
        this.source = source;
        this.reader = new PartitionReader(source.deadLetterBrokers(), "dead-letters", source.redriveGroup(), true);
        try {
            List<TopicPartition> partitions = source.deadLetterTopics().stream()
                    .flatMap(topic -> this.reader.partitionsOf(topic).stream())
                    .toList();
            this.contents.putAll(this.reader.contents(partitions));
            this.positions.putAll(this.reader.committed(partitions));
        } catch (RuntimeException ex) {
            close();
            throw ex;
        }
    }

    /** The records that may still be sent back, by topic and partition. */
    SortedMap<TopicPartition, Range> rest() {
        SortedMap<TopicPartition, Range> rest = new TreeMap<>(this.contents);
        rest.replaceAll((partition, all) -> all.intersect(new Range(position(partition), Long.MAX_VALUE)));
        return rest;
    }

    private long position(TopicPartition partition) {
        return this.positions.getOrDefault(partition, 0L);
    }

    /** Commits the offset before which no dead letter will be redriven again. */
    void commit(TopicPartition partition, long position) {
        if (position > position(partition)) {
            this.reader.commit(Map.of(partition, new OffsetAndMetadata(position)));
            this.positions.put(partition, position);
        }
    }

    void read(
            TopicPartition partition,
            Range range,
            BooleanSupplier stopped,
            Consumer<List<ConsumerRecord<byte[], byte[]>>> records) {
        this.reader.read(Map.of(partition, range), stopped, records);
    }

    /** The original records of the consumer's dead letters since a time. */
    OriginalRecords originalsSince(Instant time, BooleanSupplier stopped) {
        OriginalRecords originals = new OriginalRecords();
        this.reader.read(this.reader.since(time, this.contents), stopped, records -> records.stream()
                .filter(record ->
                        DeadLetterHeaders.belongsTo(this.source.consumer(), this.source.groups(), record.headers()))
                .forEach(originals::addOriginalOf));
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

    SortedSet<String> topics() {
        return this.contents.keySet().stream()
                .map(TopicPartition::topic)
                .collect(Collectors.toCollection(TreeSet::new));
    }

    /** A page of dead letters: topics by name, their partitions by number, the oldest records first. */
    Page<DeadLetter> find(DeadLetterQuery query, @Nullable RecordCoordinates after) {
        List<DeadLetter> found = new ArrayList<>();
        List<RecordCoordinates> scanned = new ArrayList<>();
        BooleanSupplier full = () -> found.size() >= query.size() || scanned.size() >= LARGEST_SCAN;
        this.contents.forEach((partition, all) -> {
            if (!full.getAsBoolean()) {
                read(partition, after(after, partition, all), full, records -> {
                    for (ConsumerRecord<byte[], byte[]> record : records) {
                        if (!full.getAsBoolean()) {
                            scanned.add(KafkaCoordinates.of(record));
                            DeadLetter letter = letterOf(record);
                            if (letter != null && query.matches(letter)) {
                                found.add(letter);
                            }
                        }
                    }
                });
            }
        });
        return new Page<>(
                found, full.getAsBoolean() ? scanned.get(scanned.size() - 1).toString() : null);
    }

    private static Range after(@Nullable RecordCoordinates last, TopicPartition partition, Range all) {
        if (last == null) {
            return all;
        }
        int order = ORDER.compare(partition, new TopicPartition(last.topic(), last.partition()));
        long from = (order > 0) ? all.from() : (order == 0) ? last.offset() + 1 : all.to();
        return all.intersect(new Range(Math.max(0, from), Long.MAX_VALUE));
    }

    /** Describes a record, or returns {@code null} if it is another consumer's. */
    @Nullable
    DeadLetter letterOf(ConsumerRecord<byte[], byte[]> record) {
        Headers headers = record.headers();
        if (!DeadLetterHeaders.belongsTo(this.source.consumer(), this.source.groups(), headers)) {
            return null;
        }
        RecordCoordinates first = KafkaCoordinates.original(record);
        boolean leadsBack = first.partition() >= 0 && this.source.topics().contains(first.topic());
        int redrives = DeadLetterHeaders.redrives(headers);
        return new DeadLetter(
                KafkaCoordinates.of(record),
                leadsBack ? statusOf(record, redrives) : DeadLetterStatus.UNROUTABLE,
                leadsBack ? first : null,
                DeadLetterHeaders.group(headers),
                DeadLetterHeaders.exception(headers),
                DeadLetterHeaders.message(headers),
                Instant.ofEpochMilli(record.timestamp()),
                redrives,
                (record.value() != null) ? record.value().length : null);
    }

    private DeadLetterStatus statusOf(ConsumerRecord<?, ?> record, int redrives) {
        if (redrives >= this.source.maxRedrives()) {
            return DeadLetterStatus.EXHAUSTED;
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
        this.reader.close();
    }
}
