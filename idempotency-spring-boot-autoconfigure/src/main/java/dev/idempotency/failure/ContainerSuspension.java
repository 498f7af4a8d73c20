package dev.idempotency.failure;

import dev.idempotency.RecordCoordinates;
import dev.idempotency.observe.ConsumerObserver;
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
import org.apache.kafka.common.TopicPartition;
import org.jspecify.annotations.Nullable;
import org.springframework.core.log.LogAccessor;
import org.springframework.kafka.KafkaException;
import org.springframework.kafka.listener.MessageListenerContainer;
import org.springframework.kafka.listener.SeekUtils;

/** Suspends the consumption of one container's records while the database is away. */
final class ContainerSuspension {

    private static final LogAccessor logger = new LogAccessor(LogFactory.getLog(ContainerSuspension.class));

    /** The message that has come again last on a thread for nobody's fault, and how often in a row. */
    private record Unblamed(RecordCoordinates coordinates, int failures) {}

    private final Outage outage;
    private final ConsumerPauses pauses;
    private final ConsumerObserver observer;
    private final ThreadLocal<@Nullable Unblamed> unblamed = new ThreadLocal<>();

    ContainerSuspension(Outage outage, ConsumerPauses pauses, ConsumerObserver observer) {
        this.outage = outage;
        this.pauses = pauses;
        this.observer = observer;
    }

    ConsumerObserver observer() {
        return this.observer;
    }

    /** Whether the failure is the message's fault; if so, the database has answered. */
    boolean isMessagesFault(Exception failure, ConsumerRecord<?, ?> record) {
        boolean messagesFault = this.outage.isMessagesFault(failure, record);
        if (messagesFault) {
            end();
        }
        return messagesFault;
    }

    /** The same of a batch: of the record that is named, or else of its first. */
    boolean isMessagesFault(Exception failure, ConsumerRecords<?, ?> batch) {
        ConsumerRecord<?, ?> named = NamedFailure.recordOf(failure);
        return isMessagesFault(
                failure, (named != null) ? named : batch.iterator().next());
    }

    /** The same of a batch that is being retried or taken apart because it has failed before. */
    boolean isMessagesFaultAgain(Exception failure, ConsumerRecords<?, ?> batch) {
        ConsumerRecord<?, ?> named = NamedFailure.recordOf(failure);
        if (named != null) {
            this.outage.suspects().found(named, batch.iterator().next());
        }
        return isMessagesFault(failure, batch);
    }

    /** The consumer thread no longer waits. */
    void end() {
        this.outage.recordSuccess();
    }

    /** Pauses the consumer, which has been made to get so many messages again. */
    void suspend(Exception failure, ConsumerRecord<?, ?> first, int messages, MessageListenerContainer container) {
        try {
            Duration pause =
                    this.outage.recordFailure(this.outage.classify(failure), failure, RecordCoordinates.of(first));
            this.observer.retried(messages);
            Thread thread = Thread.currentThread();
            this.pauses.pause(container, partitionOf(first), pause, () -> this.outage.leave(thread));
        } catch (RuntimeException ex) {
            logger.error(ex, "A consumer could not be paused: it tries again at once");
        }
    }

    /** Pauses the consumer, which has been made to get a message again that has done nothing wrong. */
    void pauseUnblamed(ConsumerRecord<?, ?> first, MessageListenerContainer container) {
        try {
            RecordCoordinates coordinates = RecordCoordinates.of(first);
            Unblamed last = this.unblamed.get();
            int failures = (last != null && last.coordinates().equals(coordinates)) ? last.failures() + 1 : 1;
            this.unblamed.set(new Unblamed(coordinates, failures));
            this.pauses.pause(container, partitionOf(first), this.outage.pauseAfter(failures), () -> {});
        } catch (RuntimeException ex) {
            logger.error(ex, "A consumer could not be paused: it tries again at once");
        }
    }

    /** Tells that a message comes again after its transaction was committed: it will be found to be a duplicate. */
    void pauseAfterCommit(Exception failure, ConsumerRecord<?, ?> first, MessageListenerContainer container) {
        logger.warn(
                failure, () -> ("%s has been processed, but what comes after its transaction failed, such as the commit"
                                + " of its offset. It comes again, and will be dropped as a duplicate.")
                        .formatted(RecordCoordinates.of(first)));
        pauseUnblamed(first, container);
    }

    private static TopicPartition partitionOf(ConsumerRecord<?, ?> record) {
        return new TopicPartition(record.topic(), record.partition());
    }

    /** Seeks to the first record of each partition; returns what tells the container so. */
    RuntimeException seekBack(
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
        return new ConsumptionSuspended(failure);
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

    /** Sees to it that what an error handler has failed at comes again, whatever it did before it threw this. */
    RuntimeException keep(
            Throwable thrown,
            Object handler,
            List<ConsumerRecord<?, ?>> records,
            Consumer<?, ?> consumer,
            MessageListenerContainer container) {
        FatalErrors.rethrow(thrown);
        if (thrown instanceof RuntimeException expected && (records.isEmpty() || isSoughtBack(records, consumer))) {
            return expected;
        }
        tellOfFailedHandler(thrown, handler, records.get(0));
        Exception failure = (thrown instanceof Exception ex) ? ex : new KafkaException(thrown.toString(), thrown);
        RuntimeException suspended = isSoughtBack(records, consumer)
                ? new ConsumptionSuspended(failure)
                : seekBack(failure, records, consumer, container);
        pauseUnblamed(records.get(0), container);
        return suspended;
    }

    static void tellOfFailedHandler(Throwable thrown, Object handler, ConsumerRecord<?, ?> record) {
        logger.error(
                thrown,
                () -> "%s failed at %s: the record is not skipped, it comes again. Mend what it calls, such as a"
                                .formatted(handler.getClass().getName(), RecordCoordinates.of(record))
                        + " recoverer or a back-off function.");
    }

    static void seekToFirst(List<? extends ConsumerRecord<?, ?>> records, Consumer<?, ?> consumer) {
        Map<TopicPartition, Long> first = new LinkedHashMap<>();
        records.forEach(record -> first.putIfAbsent(partitionOf(record), record.offset()));
        SeekUtils.seekPartitions(consumer, first, logger);
    }

    static List<ConsumerRecord<?, ?>> asList(Iterable<? extends ConsumerRecord<?, ?>> data) {
        List<ConsumerRecord<?, ?>> records = new ArrayList<>();
        data.forEach(records::add);
        return records;
    }
}
