package dev.idempotency.kafka;

import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeoutException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;

/** Asks brokers about topics. What they refuse to tell is an {@link ExecutionException}. */
public interface TopicLookup {

    /** Returns the id that the topic of this name has now. */
    Uuid topicId(BrokerConnection connection, String topic)
            throws ExecutionException, TimeoutException, InterruptedException;

    /** Returns the offset after the last record of a partition. */
    long endOffset(BrokerConnection connection, TopicPartition partition)
            throws ExecutionException, TimeoutException, InterruptedException;
}
