package dev.idempotency.internal.kafka;

import dev.idempotency.ConsumerWaitingException;
import dev.idempotency.ConsumerWaitingException.Awaited;
import dev.idempotency.RecordCoordinates;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.errors.UnknownTopicOrPartitionException;
import org.springframework.kafka.listener.AbstractMessageListenerContainer;

/**
 * Knows which topics the records of one container are from. The broker is asked at the first records of a partition
 * after its assignment, and when its offsets go back: a topic that was deleted and created again starts anew. All
 * methods throw a {@link ConsumerWaitingException} while the broker cannot be asked.
 */
public final class TopicIdTracker {

    private record Position(Uuid topicId, long offset) {}

    private final TopicLookup lookup;
    private final AbstractMessageListenerContainer<?, ?> container;
    private final Map<TopicPartition, Position> positions = new ConcurrentHashMap<>();

    /** End offsets as of the last question, since partitions were last assigned or went back. */
    private final Map<TopicPartition, Long> ends = new ConcurrentHashMap<>();

    private final Map<TopicPartition, Position> positionsOfOriginals = new ConcurrentHashMap<>();

    public TopicIdTracker(TopicLookup lookup, AbstractMessageListenerContainer<?, ?> container) {
        this.lookup = lookup;
        this.container = container;
    }

    /** Forgets partitions that are assigned: others had them meanwhile, perhaps of another topic of that name. */
    public void assigned(Collection<TopicPartition> partitions) {
        this.positionsOfOriginals.clear();
        partitions.forEach(partition -> {
            this.positions.remove(partition);
            this.ends.remove(partition);
        });
    }

    public TopicCoordinates of(ConsumerRecord<?, ?> record) {
        RecordCoordinates original = KafkaCoordinates.original(record);
        TopicCoordinates told = TopicCoordinates.toldBy(record, original);
        if (told != null) {
            return told;
        }
        RecordCoordinates own = KafkaCoordinates.of(record);
        Uuid id = original.equals(own) ? find(own, own.offset(), this.positions) : topicOfOriginal(original, own);
        TopicCoordinates found = TopicCoordinates.of(id, original);
        found.tellBy(record);
        return found;
    }

    /** Returns the topic that a record was copied from or, if that was deleted, the topic of the copy. */
    private Uuid topicOfOriginal(RecordCoordinates original, RecordCoordinates copy) {
        try {
            return find(original, original.offset(), this.positionsOfOriginals);
        } catch (ConsumerWaitingException ex) {
            if (ex.getCause() instanceof UnknownTopicOrPartitionException) {
                return find(copy, copy.offset(), this.positions);
            }
            throw ex;
        }
    }

    public Uuid topicIdOf(RecordCoordinates first, long last) {
        return find(first, last, this.positions);
    }

    /** The id that the topic of a partition has now, whatever was known of it. */
    public Uuid askAgain(TopicPartition partition) {
        assigned(List.of(partition));
        return askForTopic(new RecordCoordinates(partition.topic(), partition.partition(), 0));
    }

    /** The offset after the last record of a partition, if need be of an earlier look that was {@code enough}. */
    public long endOf(TopicPartition partition, long enough) {
        Long known = this.ends.get(partition);
        if (known != null && known >= enough) {
            return known;
        }
        long end = ask(
                new RecordCoordinates(partition.topic(), partition.partition(), enough),
                connection -> this.lookup.endOffset(connection, partition));
        this.ends.put(partition, end);
        return end;
    }

    private Uuid find(RecordCoordinates record, long last, Map<TopicPartition, Position> known) {
        TopicPartition partition = new TopicPartition(record.topic(), record.partition());
        Position before = known.get(partition);
        Uuid id;
        if (before != null && record.offset() > before.offset()) {
            id = before.topicId();
        } else {
            id = askForTopic(record);
            this.ends.remove(partition);
        }
        known.put(partition, new Position(id, last));
        return id;
    }

    private Uuid askForTopic(RecordCoordinates record) {
        return ask(record, connection -> this.lookup.topicId(connection, record.topic()));
    }

    private <T> T ask(RecordCoordinates record, Function<BrokerConnection, T> question) {
        BrokerConnection connection = BrokerConnection.of(this.container);
        try {
            return question.apply(connection);
        } catch (RuntimeException ex) {
            Throwable cause = (ex instanceof KafkaException && ex.getCause() != null) ? ex.getCause() : ex;
            throw new ConsumerWaitingException(
                    Awaited.BROKER,
                    ("The message %s waits: it is recognised by its offset in its topic, which the brokers %s did not"
                                    + " describe: %s. See that the consumer's settings lead to the brokers, that the topic"
                                    + " exists, and that the application may describe it.")
                            .formatted(record, connection.servers(), cause),
                    cause);
        }
    }
}
