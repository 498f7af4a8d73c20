package dev.idempotency.internal.failure;

import java.io.Serial;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.commons.logging.LogFactory;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;
import org.springframework.core.log.LogAccessor;
import org.springframework.kafka.KafkaException;
import org.springframework.kafka.listener.ListenerUtils;
import org.springframework.kafka.listener.MessageListenerContainer;
import org.springframework.kafka.listener.SeekUtils;

/** Makes a consumer receive records again, deserialized anew, by seeking back. */
final class Redelivery {

    private static final LogAccessor logger = new LogAccessor(LogFactory.getLog(Redelivery.class));

    private static final Duration QUERY_TIMEOUT = Duration.ofSeconds(10);
    private static final Duration PAUSE = Duration.ofSeconds(1);

    /** Tells the container that nothing was handled. It is expected, so it is not logged. */
    private static final class RedeliveryException extends KafkaException {

        @Serial
        private static final long serialVersionUID = 1L;

        RedeliveryException(Exception cause) {
            super("The records are redelivered", Level.DEBUG, cause);
        }
    }

    private Redelivery() {}

    /** Seeks to the first record of each partition; returns the exception that tells the container so. */
    static RuntimeException seekBack(Exception failure, List<ConsumerRecord<?, ?>> records, Consumer<?, ?> consumer) {
        seekToFirst(records, consumer);
        return new RedeliveryException(failure);
    }

    /** Skips one record; the exception keeps the container from committing other partitions. */
    static RuntimeException seekAfter(
            Exception failure,
            ConsumerRecord<?, ?> record,
            Consumer<?, ?> consumer,
            MessageListenerContainer container) {
        TopicPartition partition = ConsumerThreadState.partitionOf(record);
        SeekUtils.seekPartitions(consumer, Map.of(partition, record.offset() + 1), logger);
        consumer.commitSync(
                Map.of(partition, ListenerUtils.createOffsetAndMetadata(container, record.offset() + 1)),
                container.getContainerProperties().getSyncCommitTimeout());
        return new RedeliveryException(failure);
    }

    /** Whether the consumer will receive any of these records again; otherwise its position is behind all of them. */
    static boolean isSoughtBack(List<? extends ConsumerRecord<?, ?>> records, Consumer<?, ?> consumer) {
        Map<TopicPartition, Long> last = new LinkedHashMap<>();
        records.forEach(record -> last.put(ConsumerThreadState.partitionOf(record), record.offset()));
        Set<TopicPartition> assignment = consumer.assignment();
        return last.entrySet().stream()
                .anyMatch(entry ->
                        assignment.contains(entry.getKey()) && consumer.position(entry.getKey()) <= entry.getValue());
    }

    static void seekToFirst(List<ConsumerRecord<?, ?>> records, Consumer<?, ?> consumer) {
        SeekUtils.doSeeksToBegin(records, consumer, logger);
    }

    /** Seeks to committed or start offsets until that succeeds: the container forgets the records that it has polled. */
    static void seekToCommitted(Consumer<?, ?> consumer, MessageListenerContainer container) {
        while (container.isRunning()) {
            try {
                Map<TopicPartition, OffsetAndMetadata> committed =
                        consumer.committed(consumer.assignment(), QUERY_TIMEOUT);
                for (TopicPartition partition : consumer.assignment()) {
                    Long start = ConsumerThreadState.current().starts().get(partition);
                    if (committed.get(partition) != null) {
                        consumer.seek(partition, committed.get(partition));
                    } else if (start != null) {
                        consumer.seek(partition, start);
                    } else {
                        consumer.seekToBeginning(Set.of(partition));
                    }
                }
                return;
            } catch (RuntimeException ex) {
                logger.warn(
                        ex,
                        () -> "The committed offsets of '" + container.getListenerId()
                                + "' cannot be read: trying again");
                pause();
            }
        }
    }

    static void pause() {
        try {
            Thread.sleep(PAUSE.toMillis());
        } catch (InterruptedException ex) {
            Thread.currentThread().interrupt();
        }
    }

    /** A record and those behind it in its partition. */
    static <K, V> ConsumerRecords<K, V> from(ConsumerRecord<?, ?> first, ConsumerRecords<K, V> polled) {
        TopicPartition partition = ConsumerThreadState.partitionOf(first);
        List<ConsumerRecord<K, V>> records = polled.records(partition).stream()
                .filter(record -> record.offset() >= first.offset())
                .toList();
        return new ConsumerRecords<>(Map.of(partition, records), Map.of());
    }

    static List<ConsumerRecord<?, ?>> asList(Iterable<? extends ConsumerRecord<?, ?>> data) {
        List<ConsumerRecord<?, ?>> records = new ArrayList<>();
        data.forEach(records::add);
        return records;
    }
}
