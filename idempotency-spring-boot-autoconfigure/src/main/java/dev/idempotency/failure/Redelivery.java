package dev.idempotency.failure;

import java.io.Serial;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.commons.logging.LogFactory;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.TopicPartition;
import org.springframework.core.log.LogAccessor;
import org.springframework.kafka.KafkaException;
import org.springframework.kafka.listener.MessageListenerContainer;
import org.springframework.kafka.listener.SeekUtils;

/**
 * Makes a consumer get records again, by seeking back and telling the container that nothing was handled, and knows those
 * that come again because they have failed, one per partition and consumer thread.
 *
 * <p>Containers have an error handler forget all its counts when a batch succeeds, be it one of other partitions. As long
 * as a record that failed is expected, that must not reach the handler: the record would be retried for ever.
 */
final class Redelivery {

    private static final LogAccessor logger = new LogAccessor(LogFactory.getLog(Redelivery.class));

    /** Tells the container that nothing was handled and all records come again. It is expected, so it is not logged. */
    private static final class RedeliveryException extends KafkaException {

        @Serial
        private static final long serialVersionUID = 1L;

        RedeliveryException(Exception cause) {
            super("Consumption is suspended, and all records come again", Level.DEBUG, cause);
        }
    }

    private record Expected(Consumer<?, ?> consumer, long offset) {

        /** Whether it has neither succeeded nor become another consumer's. */
        boolean isPending(TopicPartition partition) {
            try {
                return this.consumer.assignment().contains(partition)
                        && !DeliveryContext.isSettled(partition, this.offset);
            } catch (RuntimeException ex) {
                // The consumer has been closed.
                return false;
            }
        }
    }

    private final ThreadLocal<Map<TopicPartition, Expected>> expected = ThreadLocal.withInitial(HashMap::new);

    /** Expects a record that failed to come again. */
    void expect(ConsumerRecord<?, ?> record, Consumer<?, ?> consumer) {
        this.expected.get().put(partitionOf(record), new Expected(consumer, record.offset()));
    }

    /** Does not expect a record any longer, which has been handled. */
    void forget(ConsumerRecord<?, ?> record) {
        PollPositions.pass(record);
        this.expected
                .get()
                .computeIfPresent(
                        partitionOf(record), (partition, known) -> (known.offset() == record.offset()) ? null : known);
    }

    /** Whether a record that failed on this thread is still to come again. */
    boolean isExpected() {
        Map<TopicPartition, Expected> mine = this.expected.get();
        mine.entrySet().removeIf(entry -> !entry.getValue().isPending(entry.getKey()));
        return !mine.isEmpty();
    }

    /** Seeks to the first record of each partition; returns what tells the container so, which is to be thrown. */
    static RuntimeException seekBack(
            Exception failure,
            List<? extends ConsumerRecord<?, ?>> records,
            Consumer<?, ?> consumer,
            MessageListenerContainer container) {
        seekToFirst(records, consumer);
        if (container.getContainerProperties().isAsyncAcks()) {
            // The container waits for acknowledgments out of order, unless it is told with an exception not open to us.
            try {
                SeekUtils.seekOrRecover(
                        failure,
                        List.copyOf(records),
                        consumer,
                        container,
                        false,
                        (record, exception, itsContainer, itsConsumer) -> false,
                        logger,
                        KafkaException.Level.DEBUG);
            } catch (RuntimeException inRetry) {
                return inRetry;
            }
        }
        return comesAgain(failure);
    }

    /** Tells the container that records come again to which the consumer stands already. */
    static RuntimeException comesAgain(Exception failure) {
        return new RedeliveryException(failure);
    }

    /** Whether the consumer has been made to get any of these records again: otherwise it stands behind all of them. */
    static boolean isSoughtBack(List<? extends ConsumerRecord<?, ?>> records, Consumer<?, ?> consumer) {
        Map<TopicPartition, Long> last = new LinkedHashMap<>();
        records.forEach(record -> last.put(partitionOf(record), record.offset()));
        Set<TopicPartition> assignment = consumer.assignment();
        return last.entrySet().stream()
                .anyMatch(entry ->
                        assignment.contains(entry.getKey()) && consumer.position(entry.getKey()) <= entry.getValue());
    }

    private static void seekToFirst(List<? extends ConsumerRecord<?, ?>> records, Consumer<?, ?> consumer) {
        Map<TopicPartition, Long> first = new LinkedHashMap<>();
        records.forEach(record -> first.putIfAbsent(partitionOf(record), record.offset()));
        SeekUtils.seekPartitions(consumer, first, logger);
    }

    static TopicPartition partitionOf(ConsumerRecord<?, ?> record) {
        return new TopicPartition(record.topic(), record.partition());
    }

    static List<ConsumerRecord<?, ?>> asList(Iterable<? extends ConsumerRecord<?, ?>> data) {
        List<ConsumerRecord<?, ?>> records = new ArrayList<>();
        data.forEach(records::add);
        return records;
    }
}
