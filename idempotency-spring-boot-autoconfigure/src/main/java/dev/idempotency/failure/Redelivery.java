package dev.idempotency.failure;

import java.io.Serial;
import java.util.ArrayList;
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

/** Makes a consumer get records again: it seeks back, and tells the container that nothing was handled. */
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

    private Redelivery() {}

    /** Seeks to the first record of each partition; returns what tells the container so, which is to be thrown. */
    static RuntimeException seekBack(
            Exception failure,
            List<ConsumerRecord<?, ?>> records,
            Consumer<?, ?> consumer,
            MessageListenerContainer container) {
        seekToFirst(records, consumer);
        if (container.getContainerProperties().isAsyncAcks()) {
            // The container waits for acknowledgments out of order, unless it is told with an exception not open to us.
            try {
                SeekUtils.seekOrRecover(
                        failure,
                        records,
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
        return new RedeliveryException(failure);
    }

    /** The same where an error handler may have sought back already, and must not be undone. */
    static RuntimeException seekBackIfNeeded(
            Exception failure,
            List<ConsumerRecord<?, ?>> records,
            Consumer<?, ?> consumer,
            MessageListenerContainer container) {
        return isSoughtBack(records, consumer)
                ? new RedeliveryException(failure)
                : seekBack(failure, records, consumer, container);
    }

    /** Whether a failure says no more than that records come again. */
    static boolean isRequestedBy(Exception failure) {
        return failure instanceof RedeliveryException;
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

    static void seekToFirst(List<? extends ConsumerRecord<?, ?>> records, Consumer<?, ?> consumer) {
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
