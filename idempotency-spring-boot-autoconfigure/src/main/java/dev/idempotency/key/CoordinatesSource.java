package dev.idempotency.key;

import dev.idempotency.TopicCoordinates;
import dev.idempotency.TopicUnknownException;
import org.apache.kafka.clients.consumer.ConsumerRecord;

/** Knows where records stood first, and in which topic of that name. */
@FunctionalInterface
public interface CoordinatesSource {

    /**
     * The coordinates of a record, or of the one that it is a copy of.
     *
     * @throws TopicUnknownException if the topic is not known, as long as the broker cannot be asked
     */
    TopicCoordinates of(ConsumerRecord<?, ?> record);
}
