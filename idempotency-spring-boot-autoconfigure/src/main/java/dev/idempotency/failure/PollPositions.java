package dev.idempotency.failure;

import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.WakeupException;
import org.jspecify.annotations.Nullable;

/**
 * Up to where the records of the last poll are over, on the consumer's thread, by partition.
 *
 * <p>What fails around a listener rather than in it, such as an observation or whoever hears of the container's events, ends
 * the container's round. It forgets the records that it has not handed over, and the next commit would pass them by.
 */
final class PollPositions {

    private static final Duration KNOWN_WITHIN = Duration.ofMillis(100);

    /** For an answer of the broker, which has just answered a poll. */
    private static final Duration ANSWERED_WITHIN = Duration.ofSeconds(10);

    private static final ThreadLocal<Map<TopicPartition, Long>> NEXT = ThreadLocal.withInitial(HashMap::new);

    private PollPositions() {}

    /** A consumer is about to poll. */
    static void begin(Consumer<?, ?> consumer) {
        Map<TopicPartition, Long> next = NEXT.get();
        Map<TopicPartition, Long> before = Map.copyOf(next);
        Set<TopicPartition> paused = consumer.paused();
        next.clear();
        for (TopicPartition partition : consumer.assignment()) {
            Long position = positionOf(partition, consumer, Duration.ZERO);
            if (position != null) {
                // The consumer is paused while its container holds records of an earlier poll, and hands them over.
                boolean held = paused.contains(partition) && before.containsKey(partition);
                next.put(partition, held ? Math.min(before.get(partition), position) : position);
            }
        }
    }

    /** A record is over: it has been processed, dropped or given up. */
    static void pass(ConsumerRecord<?, ?> record) {
        NEXT.get().merge(new TopicPartition(record.topic(), record.partition()), record.offset() + 1, Math::max);
    }

    /**
     * Has a consumer get again what is not over.
     *
     * @return whether there may be anything
     */
    static boolean goBack(Consumer<?, ?> consumer) {
        Map<TopicPartition, Long> next = NEXT.get();
        Set<TopicPartition> unknown = new HashSet<>();
        boolean back = false;
        for (TopicPartition partition : consumer.assignment()) {
            Long position = positionOf(partition, consumer, KNOWN_WITHIN);
            Long first = next.get(partition);
            if (position != null && first == null) {
                unknown.add(partition);
            } else if (position != null && first < position) {
                consumer.seek(partition, first);
                back = true;
            }
        }
        goBackToCommitted(unknown, consumer);
        return back || !unknown.isEmpty();
    }

    /** Partitions that were assigned in the poll itself. Where the latest record counts, containers commit their beginning. */
    private static void goBackToCommitted(Set<TopicPartition> partitions, Consumer<?, ?> consumer) {
        if (partitions.isEmpty()) {
            return;
        }
        Map<TopicPartition, OffsetAndMetadata> committed = consumer.committed(partitions, ANSWERED_WITHIN);
        for (TopicPartition partition : partitions) {
            OffsetAndMetadata known = committed.get(partition);
            if (known != null) {
                consumer.seek(partition, known);
            } else {
                consumer.seekToBeginning(Set.of(partition));
            }
        }
    }

    private static @Nullable Long positionOf(TopicPartition partition, Consumer<?, ?> consumer, Duration timeout) {
        try {
            return consumer.position(partition, timeout);
        } catch (WakeupException ex) {
            // It was meant for the poll.
            consumer.wakeup();
            return null;
        } catch (RuntimeException ex) {
            return null;
        }
    }
}
