package dev.idempotency.test;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.Deque;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.Headers;
import org.jspecify.annotations.Nullable;

/**
 * The polls that a consumer has delivered and will redeliver, so that a batch is redelivered as a batch.
 *
 * <p>A record is remembered at its first delivery only, not at a redelivery: neither after a seek by an error handler, nor
 * from this class. So this class redelivers each record once.
 *
 * @param <K> the type of keys
 * @param <V> the type of values
 */
final class DeliveredPolls<K, V> {

    /** A record before any changes by the application. The headers stay the same object, by which the library finds its bytes. */
    private record Remembered<K, V>(ConsumerRecord<K, V> record, List<Header> headers) {

        ConsumerRecord<K, V> again() {
            Headers own = this.record.headers();
            for (Header header : own.toArray()) {
                own.remove(header.key());
            }
            LoggedRecord.copy(this.headers).forEach(own::add);
            return new ConsumerRecord<>(
                    this.record.topic(),
                    this.record.partition(),
                    this.record.offset(),
                    this.record.timestamp(),
                    this.record.timestampType(),
                    this.record.serializedKeySize(),
                    this.record.serializedValueSize(),
                    this.record.key(),
                    this.record.value(),
                    own,
                    this.record.leaderEpoch());
        }
    }

    private record Poll<K, V>(Map<TopicPartition, List<Remembered<K, V>>> records, long deliveredBefore) {}

    private final int after;
    private final @Nullable Random order;
    private final Deque<Poll<K, V>> polls = new ArrayDeque<>();
    private final Map<TopicPartition, Long> remembered = new HashMap<>();
    private final Map<TopicPartition, Long> committed = new HashMap<>();
    private long delivered;

    /**
     * Creates an instance that remembers no polls yet.
     *
     * @param after the number of further records that are delivered before one is redelivered
     * @param order selects the next redelivery; {@code null} for the order of the first delivery
     */
    DeliveredPolls(int after, @Nullable Random order) {
        this.after = after;
        this.order = order;
    }

    /** Called before records are delivered for the first time, or again after a failure. */
    void delivering(ConsumerRecords<K, V> records) {
        Map<TopicPartition, List<Remembered<K, V>>> fresh = new LinkedHashMap<>();
        for (ConsumerRecord<K, V> record : records) {
            TopicPartition partition = new TopicPartition(record.topic(), record.partition());
            if (record.offset() > this.remembered.getOrDefault(partition, -1L)) {
                this.remembered.put(partition, record.offset());
                fresh.computeIfAbsent(partition, key -> new ArrayList<>())
                        .add(new Remembered<>(record, LoggedRecord.copy(record.headers())));
            }
        }
        this.delivered += records.count();
        if (!fresh.isEmpty()) {
            this.polls.add(new Poll<>(fresh, this.delivered));
        }
    }

    /** Called before offsets are committed: none is moved back, although redelivered records are committed again. */
    Map<TopicPartition, OffsetAndMetadata> committing(Map<TopicPartition, OffsetAndMetadata> offsets) {
        Map<TopicPartition, OffsetAndMetadata> kept = new LinkedHashMap<>();
        offsets.forEach((partition, offset) -> {
            long highest = this.committed.merge(partition, offset.offset(), Math::max);
            kept.put(
                    partition,
                    (offset.offset() == highest) ? offset : new OffsetAndMetadata(highest, offset.metadata()));
        });
        return kept;
    }

    void revoked(Collection<TopicPartition> partitions) {
        partitions.forEach(partition -> {
            this.committed.remove(partition);
            this.remembered.remove(partition);
        });
    }

    /**
     * Returns the next poll to redeliver, or {@code null} if none is due.
     *
     * @param open the partitions that are assigned and not paused
     * @param idle whether there is nothing else to deliver, so that redeliveries need not wait for further records
     */
    @Nullable
    ConsumerRecords<K, V> next(Set<TopicPartition> assigned, Set<TopicPartition> open, boolean idle) {
        this.polls.removeIf(poll -> !assigned.containsAll(poll.records().keySet()));
        List<Poll<K, V>> due = this.polls.stream()
                .filter(poll -> open.containsAll(poll.records().keySet()) && isCommitted(poll))
                .filter(poll -> idle || this.delivered - poll.deliveredBefore() >= this.after)
                .toList();
        if (due.isEmpty()) {
            return null;
        }
        Poll<K, V> poll = due.get((this.order != null) ? this.order.nextInt(due.size()) : 0);
        this.polls.remove(poll);
        return again(poll);
    }

    private boolean isCommitted(Poll<K, V> poll) {
        return poll.records().entrySet().stream().allMatch(entry -> {
            List<Remembered<K, V>> records = entry.getValue();
            long last = records.get(records.size() - 1).record().offset();
            return this.committed.getOrDefault(entry.getKey(), 0L) > last;
        });
    }

    /** Keeps the order of offsets within a partition, as in any poll: error handlers that seek rely on it. */
    private ConsumerRecords<K, V> again(Poll<K, V> poll) {
        Map<TopicPartition, List<ConsumerRecord<K, V>>> records = new LinkedHashMap<>();
        List<TopicPartition> partitions = new ArrayList<>(poll.records().keySet());
        if (this.order != null) {
            Collections.shuffle(partitions, this.order);
        }
        for (TopicPartition partition : partitions) {
            List<ConsumerRecord<K, V>> ofIt = new ArrayList<>();
            poll.records().get(partition).forEach(record -> ofIt.add(record.again()));
            records.put(partition, ofIt);
        }
        return new ConsumerRecords<>(records, Map.of());
    }
}
