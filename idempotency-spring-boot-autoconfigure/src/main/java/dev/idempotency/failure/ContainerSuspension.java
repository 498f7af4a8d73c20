package dev.idempotency.failure;

import dev.idempotency.RecordCoordinates;
import dev.idempotency.observe.ConsumerObserver;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.commons.logging.LogFactory;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.TopicPartition;
import org.springframework.core.log.LogAccessor;
import org.springframework.kafka.KafkaException;
import org.springframework.kafka.listener.MessageListenerContainer;
import org.springframework.kafka.listener.SeekUtils;

/** Suspends the consumption of one container's records while the database is away. */
final class ContainerSuspension {

    private static final LogAccessor logger = new LogAccessor(LogFactory.getLog(ContainerSuspension.class));

    private final Outage outage;
    private final ConsumerPauses pauses;
    private final ConsumerObserver observer;

    ContainerSuspension(Outage outage, ConsumerPauses pauses, ConsumerObserver observer) {
        this.outage = outage;
        this.pauses = pauses;
        this.observer = observer;
    }

    ConsumerObserver observer() {
        return this.observer;
    }

    /** Whether the failure is the message's fault; if so, the database has answered. */
    boolean isMessagesFault(Exception failure) {
        boolean messagesFault = this.outage.classify(failure) == FailureKind.MESSAGE;
        if (messagesFault) {
            end();
        }
        return messagesFault;
    }

    /** The consumer thread no longer waits. */
    void end() {
        this.outage.overcome();
    }

    /** Pauses the consumer, which is about to be given so many messages again. */
    void suspend(Exception failure, ConsumerRecord<?, ?> first, int messages, MessageListenerContainer container) {
        Duration pause = this.outage.goesOn(this.outage.classify(failure), failure, RecordCoordinates.of(first));
        this.observer.retried(messages);
        Thread thread = Thread.currentThread();
        this.pauses.pause(
                container,
                new TopicPartition(first.topic(), first.partition()),
                pause,
                () -> this.outage.leave(thread));
    }

    /** Seeks to the first record of each partition; returns what tells the container so. */
    RuntimeException seekBack(
            Exception failure,
            List<ConsumerRecord<?, ?>> records,
            Consumer<?, ?> consumer,
            MessageListenerContainer container) {
        if (container.getContainerProperties().isAsyncAcks()) {
            // The container waits for acknowledgments out of order, unless it is told with an exception not open to us.
            SeekUtils.seekOrRecover(
                    failure,
                    records,
                    consumer,
                    container,
                    false,
                    (record, exception, itsContainer, itsConsumer) -> false,
                    logger,
                    KafkaException.Level.DEBUG);
        }
        seekToFirst(records, consumer);
        return new ConsumptionSuspended(failure);
    }

    static void seekToFirst(List<? extends ConsumerRecord<?, ?>> records, Consumer<?, ?> consumer) {
        Map<TopicPartition, Long> first = new LinkedHashMap<>();
        records.forEach(
                record -> first.putIfAbsent(new TopicPartition(record.topic(), record.partition()), record.offset()));
        SeekUtils.seekPartitions(consumer, first, logger);
    }

    static List<ConsumerRecord<?, ?>> asList(Iterable<? extends ConsumerRecord<?, ?>> data) {
        List<ConsumerRecord<?, ?>> records = new ArrayList<>();
        data.forEach(records::add);
        return records;
    }
}
