package dev.idempotency.internal.failure;

import dev.idempotency.failure.DatabaseFailureClassifier;
import dev.idempotency.internal.kafka.KafkaCoordinates;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BooleanSupplier;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.TopicPartition;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Finds records of one consumer that always fail as if the database were away, though the store takes a write each
 * time. After as many failures as a message has attempts, they are the message's own. An outage without doubt restarts
 * the count.
 */
final class PoisonRecordDetector {

    private static final Logger logger = LoggerFactory.getLogger(PoisonRecordDetector.class);

    private final String consumer;
    private final int threshold;
    private final BooleanSupplier storeTakesWrites;
    private final Map<TopicPartition, Failures> byPartition = new ConcurrentHashMap<>();

    private record Failures(long offset, int failures) {}

    PoisonRecordDetector(String consumer, int threshold, BooleanSupplier storeTakesWrites) {
        this.consumer = consumer;
        this.threshold = threshold;
        this.storeTakesWrites = storeTakesWrites;
    }

    /** Counts a failure that looks like an outage; returns whether it is the message's own. */
    boolean recordFailure(Exception failure, ConsumerRecord<?, ?> record) {
        int failures = isOfOneMessage(failure) ? failuresOf(record) + 1 : 0;
        this.byPartition.put(ConsumerThreadState.partitionOf(record), new Failures(record.offset(), failures));
        if (failures == this.threshold + 1) {
            logger.warn(
                    "Consumer '{}' has failed at {} {} times as if the database were away, which answers and takes writes:"
                            + " from now on that is the message's own failure",
                    this.consumer,
                    KafkaCoordinates.of(record),
                    failures,
                    failure);
        }
        return failures > this.threshold;
    }

    /** Whether this failure of a record will be found to be its own when it is counted. */
    boolean isAboutToBePoison(Throwable failure, ConsumerRecord<?, ?> record) {
        return failuresOf(record) >= this.threshold && isOfOneMessage(failure);
    }

    private boolean isOfOneMessage(Throwable failure) {
        return DatabaseFailureClassifier.canBeOfOneMessage(failure) && this.storeTakesWrites.getAsBoolean();
    }

    private int failuresOf(ConsumerRecord<?, ?> record) {
        Failures failed = this.byPartition.get(ConsumerThreadState.partitionOf(record));
        return (failed != null && failed.offset() == record.offset()) ? failed.failures() : 0;
    }
}
