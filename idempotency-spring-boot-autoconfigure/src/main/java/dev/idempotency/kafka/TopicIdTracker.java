package dev.idempotency.kafka;

import dev.idempotency.RecordCoordinates;
import dev.idempotency.TopicCoordinates;
import dev.idempotency.TopicUnknownException;
import java.util.Collection;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeoutException;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.errors.UnknownTopicOrPartitionException;
import org.springframework.kafka.listener.AbstractMessageListenerContainer;
import org.springframework.kafka.listener.ContainerProperties;

/**
 * Knows which topics the records of one container are from. The broker is asked once per topic when partitions have been
 * assigned, and again when the offsets of a partition go back: a topic that was deleted and created again begins anew,
 * without a rebalance if nobody has looked meanwhile.
 *
 * <p>What is known of a partition holds until then, whatever is known of others by now: a consumer may still hold records
 * of a topic that has been deleted.
 */
public final class TopicIdTracker {

    private record Position(Uuid topicId, long offset) {}

    private final TopicIdLookup ids;
    private final AbstractMessageListenerContainer<?, ?> container;

    /** Answers since partitions of a topic were last assigned, by its name. */
    private final Map<String, Uuid> answers = new ConcurrentHashMap<>();

    private final Map<TopicPartition, Position> positions = new ConcurrentHashMap<>();

    /** The same of records that others are copies of. */
    private final Map<TopicPartition, Position> positionsOfOriginals = new ConcurrentHashMap<>();

    public TopicIdTracker(TopicIdLookup ids, AbstractMessageListenerContainer<?, ?> container) {
        this.ids = ids;
        this.container = container;
    }

    /** Hears which partitions are assigned to the container, beside the listener that it has. */
    public void listenToRebalances() {
        ContainerProperties properties = this.container.getContainerProperties();
        properties.setConsumerRebalanceListener(
                new AssignmentListener(this::assigned, properties.getConsumerRebalanceListener()));
    }

    /** What was known of them is out of date: others had them meanwhile, perhaps of another topic of that name. */
    private void assigned(Collection<TopicPartition> partitions) {
        this.positionsOfOriginals.clear();
        partitions.forEach(partition -> {
            this.answers.remove(partition.topic());
            this.positions.remove(partition);
        });
    }

    /**
     * The coordinates of a record, or of the one that it is a copy of.
     *
     * @throws TopicUnknownException if the topic is not known, as long as the broker cannot be asked
     */
    public TopicCoordinates of(ConsumerRecord<?, ?> record) {
        RecordCoordinates original = RecordCoordinates.original(record);
        TopicCoordinates told = TopicCoordinates.toldBy(record, original);
        if (told != null) {
            return told;
        }
        RecordCoordinates own = RecordCoordinates.of(record);
        TopicCoordinates found =
                TopicCoordinates.of(original.equals(own) ? topicOf(own) : topicOfOriginal(original, own), original);
        found.tellBy(record);
        return found;
    }

    private Uuid topicOf(RecordCoordinates record) {
        try {
            return find(record, this.positions);
        } catch (ExecutionException ex) {
            throw unknown(record, (ex.getCause() != null) ? ex.getCause() : ex);
        }
    }

    /** That of the topic that it was copied from or, where that is gone for good, of the one that the copy stands in. */
    private Uuid topicOfOriginal(RecordCoordinates original, RecordCoordinates copy) {
        try {
            return find(original, this.positionsOfOriginals);
        } catch (ExecutionException ex) {
            if (ex.getCause() instanceof UnknownTopicOrPartitionException) {
                return topicOf(copy);
            }
            throw unknown(original, (ex.getCause() != null) ? ex.getCause() : ex);
        }
    }

    private Uuid find(RecordCoordinates record, Map<TopicPartition, Position> known) throws ExecutionException {
        TopicPartition partition = new TopicPartition(record.topic(), record.partition());
        Position last = known.get(partition);
        Uuid id = null;
        if (last == null) {
            id = (known == this.positions) ? this.answers.get(record.topic()) : null;
        } else if (record.offset() > last.offset()) {
            id = last.topicId();
        }
        if (id == null) {
            id = ask(record);
            this.answers.put(record.topic(), id);
        }
        known.put(partition, new Position(id, record.offset()));
        return id;
    }

    private Uuid ask(RecordCoordinates record) throws ExecutionException {
        try {
            return this.ids.ask(BrokerConnection.of(this.container), record.topic());
        } catch (InterruptedException ex) {
            Thread.currentThread().interrupt();
            throw unknown(record, ex);
        } catch (TimeoutException | RuntimeException ex) {
            throw unknown(record, ex);
        }
    }

    private TopicUnknownException unknown(RecordCoordinates record, Throwable cause) {
        return new TopicUnknownException(
                ("The key of the message %s is made of #coordinates, to which the id of the topic '%s' belongs, and"
                                + " the brokers %s did not tell it: %s. The message waits, as under another key it"
                                + " could be lost or processed twice. See that the brokers can be reached with the"
                                + " settings of the listener's consumer, that there is such a topic, and that the"
                                + " application may describe it.")
                        .formatted(
                                record,
                                record.topic(),
                                BrokerConnection.of(this.container).servers(),
                                cause),
                cause);
    }
}
