package dev.idempotency.internal.job;

import dev.idempotency.internal.kafka.BrokerConnection;
import dev.idempotency.internal.kafka.ListenerContainers;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.regex.Pattern;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.consumer.OffsetAndTimestamp;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.jspecify.annotations.Nullable;
import org.springframework.kafka.listener.AbstractMessageListenerContainer;

/**
 * Reads parts of topics byte for byte, beside all who consume them: it is a member of no group, creates no topics, and
 * fetches little at a time. For one thread.
 */
public final class PartitionReader implements AutoCloseable {

    private static final Duration POLL = Duration.ofMillis(500);
    private static final Duration PATIENCE = Duration.ofSeconds(30);
    private static final int ANSWER_MILLIS = 10_000;

    /** Offsets of a partition: {@code from} the first, and before {@code to}. */
    public record Range(long from, long to) {

        public long length() {
            return this.to - this.from;
        }

        /** Returns the intersection, which may be empty. */
        public Range intersect(Range other) {
            long last = Math.min(this.to, other.to);
            return new Range(Math.min(Math.max(this.from, other.from), last), last);
        }
    }

    private final BrokerConnection connection;
    private final KafkaConsumer<byte[], byte[]> consumer;

    /**
     * Connects to brokers.
     *
     * @param purpose what it is for, by which it is known to the brokers
     * @param groupId the group whose committed offsets it reads and writes, without being a member; {@code null} for none
     * @param committedOnly whether records of transactions that are open or were rolled back are left out
     */
    public PartitionReader(
            BrokerConnection connection, String purpose, @Nullable String groupId, boolean committedOnly) {
        Map<String, Object> settings = new HashMap<>(connection.settings());
        settings.put(ConsumerConfig.CLIENT_ID_CONFIG, "idempotency-" + purpose);
        if (groupId != null) {
            settings.put(ConsumerConfig.GROUP_ID_CONFIG, groupId);
        }
        settings.put(ConsumerConfig.ENABLE_AUTO_COMMIT_CONFIG, false);
        settings.put(ConsumerConfig.AUTO_OFFSET_RESET_CONFIG, "earliest");
        settings.put(ConsumerConfig.ALLOW_AUTO_CREATE_TOPICS_CONFIG, false);
        settings.put(ConsumerConfig.ISOLATION_LEVEL_CONFIG, committedOnly ? "read_committed" : "read_uncommitted");
        settings.put(ConsumerConfig.FETCH_MAX_BYTES_CONFIG, 8 * 1024 * 1024);
        // The last fetch may find nothing but transaction markers.
        settings.put(ConsumerConfig.FETCH_MAX_WAIT_MS_CONFIG, 100);
        settings.put(ConsumerConfig.DEFAULT_API_TIMEOUT_MS_CONFIG, ANSWER_MILLIS);
        settings.put(ConsumerConfig.REQUEST_TIMEOUT_MS_CONFIG, ANSWER_MILLIS);
        settings.put(ConsumerConfig.METRIC_REPORTER_CLASSES_CONFIG, "");
        settings.put(ConsumerConfig.ENABLE_METRICS_PUSH_CONFIG, false);
        this.connection = connection;
        this.consumer = new KafkaConsumer<>(settings, new ByteArrayDeserializer(), new ByteArrayDeserializer());
    }

    /** The partitions of a topic; none if there is no such topic. */
    public List<TopicPartition> partitionsOf(String topic) {
        return this.consumer.partitionsFor(topic).stream()
                .map(info -> new TopicPartition(topic, info.partition()))
                .sorted((one, other) -> Integer.compare(one.partition(), other.partition()))
                .toList();
    }

    /** The topics that a container reads, by their names or by a pattern. */
    public List<String> topicsOf(AbstractMessageListenerContainer<?, ?> container) {
        Pattern pattern = container.getContainerProperties().getTopicPattern();
        return (pattern == null)
                ? ListenerContainers.topicsOf(container)
                : this.consumer.listTopics().keySet().stream()
                        .filter(topic -> pattern.matcher(topic).matches())
                        .toList();
    }

    /** Returns the current contents of partitions. */
    public Map<TopicPartition, Range> contents(Collection<TopicPartition> partitions) {
        Map<TopicPartition, Long> ends = this.consumer.endOffsets(partitions);
        Map<TopicPartition, Range> contents = new HashMap<>();
        this.consumer
                .beginningOffsets(partitions)
                .forEach((partition, from) -> contents.put(
                        partition, new Range(from, Math.max(from, Objects.requireNonNull(ends.get(partition))))));
        return contents;
    }

    /** The parts of ranges that begin with the first record that is not older than a time; nothing of one without such a record. */
    public Map<TopicPartition, Range> since(Instant time, Map<TopicPartition, Range> ranges) {
        Map<TopicPartition, Long> times = new HashMap<>();
        ranges.keySet().forEach(partition -> times.put(partition, Math.max(0, time.toEpochMilli())));
        Map<TopicPartition, OffsetAndTimestamp> found = this.consumer.offsetsForTimes(times);
        Map<TopicPartition, Range> since = new HashMap<>();
        ranges.forEach((partition, range) -> {
            OffsetAndTimestamp first = found.get(partition);
            since.put(
                    partition,
                    range.intersect(new Range((first != null) ? first.offset() : range.to(), Long.MAX_VALUE)));
        });
        return since;
    }

    /** Returns the next offsets of the group: 0 where it has committed none. */
    public Map<TopicPartition, Long> committed(Collection<TopicPartition> partitions) {
        Map<TopicPartition, Long> next = new HashMap<>();
        this.consumer
                .committed(new HashSet<>(partitions))
                .forEach((partition, offset) -> next.put(partition, (offset != null) ? offset.offset() : 0));
        return next;
    }

    /** Commits offsets of the group. */
    public void commit(Map<TopicPartition, OffsetAndMetadata> offsets) {
        if (!offsets.isEmpty()) {
            this.consumer.commitSync(offsets);
        }
    }

    /**
     * Reads what stands in ranges of partitions: in order within each. What has been removed from them meanwhile is passed
     * over.
     *
     * @param stopped asked between polls: whether to read no further
     * @throws KafkaException if the brokers do not answer
     */
    public void read(
            Map<TopicPartition, Range> ranges,
            BooleanSupplier stopped,
            Consumer<List<ConsumerRecord<byte[], byte[]>>> reader) {
        Map<TopicPartition, Long> ends = new HashMap<>();
        ranges.forEach((partition, range) -> {
            if (range.length() > 0) {
                ends.put(partition, range.to());
            }
        });
        this.consumer.assign(ends.keySet());
        ends.keySet()
                .forEach(partition -> this.consumer.seek(
                        partition, Objects.requireNonNull(ranges.get(partition)).from()));
        long lastProgress = System.nanoTime();
        long sum = -1;
        while (!ends.isEmpty() && !stopped.getAsBoolean()) {
            List<ConsumerRecord<byte[], byte[]>> records = new ArrayList<>();
            this.consumer.poll(POLL).forEach(record -> {
                Long end = ends.get(new TopicPartition(record.topic(), record.partition()));
                if (end != null && record.offset() < end) {
                    records.add(record);
                }
            });
            if (!records.isEmpty()) {
                reader.accept(records);
            }
            long positions =
                    ends.keySet().stream().mapToLong(this.consumer::position).sum();
            if (positions != sum) {
                sum = positions;
                lastProgress = System.nanoTime();
            } else if (System.nanoTime() - lastProgress > PATIENCE.toNanos()) {
                throw new KafkaException("The brokers %s have not given the rest of %s for %s"
                        .formatted(this.connection.servers(), ends.keySet(), PATIENCE));
            }
            if (ends.entrySet().removeIf(end -> this.consumer.position(end.getKey()) >= end.getValue())) {
                this.consumer.assign(ends.keySet());
            }
        }
    }

    @Override
    public void close() {
        this.consumer.close();
    }
}
