package dev.idempotency.failure;

import dev.idempotency.kafka.KafkaCoordinates;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BooleanSupplier;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.TopicPartition;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Records of one consumer that fail again and again as if the database were away, though the store takes a write each
 * time. After as many failures as a message has attempts, they are the message's own.
 *
 * <p>Counting starts again after each failure that was an outage without doubt: a database that comes and goes is not the
 * message's fault.
 */
final class SuspectRecords {

    private static final Logger logger = LoggerFactory.getLogger(SuspectRecords.class);

    private final String consumer;
    private final int patience;
    private final BooleanSupplier storeTakesWrites;
    private final Map<TopicPartition, Suspect> byPartition = new ConcurrentHashMap<>();

    private record Suspect(long offset, int failures) {}

    SuspectRecords(String consumer, int patience, BooleanSupplier storeTakesWrites) {
        this.consumer = consumer;
        this.patience = patience;
        this.storeTakesWrites = storeTakesWrites;
    }

    /** Counts a failure that looks like an outage; returns whether it is the message's own. */
    boolean recordFailure(Exception failure, ConsumerRecord<?, ?> record) {
        int failures = isOfOneMessage(failure) ? failuresOf(record) + 1 : 0;
        this.byPartition.put(ConsumerThreadState.partitionOf(record), new Suspect(record.offset(), failures));
        if (failures == this.patience + 1) {
            logger.warn(
                    "Consumer '{}' has failed at {} {} times as if the database were away, which answers and takes writes:"
                            + " from now on that is the message's own failure",
                    this.consumer,
                    KafkaCoordinates.of(record),
                    failures,
                    failure);
        }
        return failures > this.patience;
    }

    /** Whether this failure of a record will be found to be its own when it is counted. */
    boolean isAboutToBlame(Throwable failure, ConsumerRecord<?, ?> record) {
        return failuresOf(record) >= this.patience && isOfOneMessage(failure);
    }

    private boolean isOfOneMessage(Throwable failure) {
        return DatabaseFailureClassifier.canBeOfOneMessage(failure) && this.storeTakesWrites.getAsBoolean();
    }

    private int failuresOf(ConsumerRecord<?, ?> record) {
        Suspect suspect = this.byPartition.get(ConsumerThreadState.partitionOf(record));
        return (suspect != null && suspect.offset() == record.offset()) ? suspect.failures() : 0;
    }
}
