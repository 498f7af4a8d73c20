package dev.idempotency.kafka;

import dev.idempotency.RecordCoordinates;
import dev.idempotency.TopicCoordinates;
import dev.idempotency.TopicUnknownException;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeoutException;
import java.util.function.LongSupplier;
import org.apache.kafka.clients.consumer.ConsumerRebalanceListener;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.errors.UnknownTopicOrPartitionException;
import org.jspecify.annotations.Nullable;
import org.springframework.kafka.listener.AbstractMessageListenerContainer;
import org.springframework.kafka.listener.ConsumerAwareRebalanceListener;
import org.springframework.kafka.listener.ContainerProperties;

/**
 * Knows which topics the records of one container are from. The broker is asked when the first records of a partition come
 * after it was assigned, for all partitions of the topic whose first records come in the same moment, and again when the
 * offsets of a partition go back: a topic that was deleted and created again begins anew, without a rebalance if nobody has
 * looked meanwhile.
 *
 * <p>What is known of a partition holds until then, whatever is known of others by now: a consumer may still hold records
 * of a topic that has been deleted.
 */
public final class TopicIdTracker {

    private static final String OF_KEY = "#coordinates";
    private static final String OF_OFFSETS = "offset";

    /** For how long an answer holds for partitions that nothing has come of yet. */
    private static final long MOMENT_NANOS = Duration.ofSeconds(1).toNanos();

    private record Position(Uuid topicId, long offset) {}

    private record Answer(Uuid topicId, long askedAt) {}

    private final TopicLookup lookup;
    private final AbstractMessageListenerContainer<?, ?> container;
    private final LongSupplier nanoTime;

    /** Answers since partitions of a topic were last assigned, by its name. */
    private final Map<String, Answer> answers = new ConcurrentHashMap<>();

    private final Map<TopicPartition, Position> positions = new ConcurrentHashMap<>();

    /** Offsets that partitions had reached when the broker was asked, since they were last assigned or went back. */
    private final Map<TopicPartition, Long> ends = new ConcurrentHashMap<>();

    /** The same of records that others are copies of. */
    private final Map<TopicPartition, Position> positionsOfOriginals = new ConcurrentHashMap<>();

    public TopicIdTracker(TopicLookup lookup, AbstractMessageListenerContainer<?, ?> container) {
        this(lookup, container, System::nanoTime);
    }

    /** {@code nanoTime} is the clock. */
    TopicIdTracker(TopicLookup lookup, AbstractMessageListenerContainer<?, ?> container, LongSupplier nanoTime) {
        this.lookup = lookup;
        this.container = container;
        this.nanoTime = nanoTime;
    }

    /** Hears which partitions are assigned to the container, beside the listener that it has. */
    public void listenToRebalances() {
        ContainerProperties properties = this.container.getContainerProperties();
        ConsumerRebalanceListener own = properties.getConsumerRebalanceListener();
        properties.setConsumerRebalanceListener(
                new AssignmentListener(this::assigned, (own != null) ? own : new ConsumerAwareRebalanceListener() {}));
    }

    /** What was known of them is out of date: others had them meanwhile, perhaps of another topic of that name. */
    private void assigned(Collection<TopicPartition> partitions) {
        this.positionsOfOriginals.clear();
        partitions.forEach(partition -> {
            this.answers.remove(partition.topic());
            this.positions.remove(partition);
            this.ends.remove(partition);
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

    /**
     * The id of the topic that records of a partition are from.
     *
     * @param first the first of them
     * @param last the offset of the last
     * @throws TopicUnknownException if it is not known, as long as the broker cannot be asked
     */
    public Uuid topicIdOf(RecordCoordinates first, long last) {
        try {
            return find(first, last, this.positions);
        } catch (ExecutionException ex) {
            throw unknown(first, OF_OFFSETS, (ex.getCause() != null) ? ex.getCause() : ex);
        }
    }

    /**
     * The id that the topic of a partition has now, whatever was known of it.
     *
     * @throws TopicUnknownException if the broker cannot be asked
     */
    public Uuid askAgain(TopicPartition partition) {
        assigned(List.of(partition));
        RecordCoordinates somewhere = new RecordCoordinates(partition.topic(), partition.partition(), 0);
        try {
            return ask(somewhere, OF_OFFSETS);
        } catch (ExecutionException ex) {
            throw unknown(somewhere, OF_OFFSETS, (ex.getCause() != null) ? ex.getCause() : ex);
        }
    }

    /**
     * The offset after the last record of a partition, as far as has to be known: whether it reaches up to another.
     *
     * @param enough what it is compared with
     * @throws TopicUnknownException if it is not known, as long as the broker cannot be asked
     */
    public long endOf(TopicPartition partition, long enough) {
        Long known = this.ends.get(partition);
        if (known != null && known >= enough) {
            return known;
        }
        RecordCoordinates position = new RecordCoordinates(partition.topic(), partition.partition(), enough);
        try {
            long end = this.lookup.endOffset(BrokerConnection.of(this.container), partition);
            this.ends.put(partition, end);
            return end;
        } catch (ExecutionException ex) {
            throw unknown(position, OF_OFFSETS, (ex.getCause() != null) ? ex.getCause() : ex);
        } catch (InterruptedException ex) {
            Thread.currentThread().interrupt();
            throw unknown(position, OF_OFFSETS, ex);
        } catch (TimeoutException | RuntimeException ex) {
            throw unknown(position, OF_OFFSETS, ex);
        }
    }

    private Uuid topicOf(RecordCoordinates record) {
        try {
            return find(record, record.offset(), this.positions);
        } catch (ExecutionException ex) {
            throw unknown(record, OF_KEY, (ex.getCause() != null) ? ex.getCause() : ex);
        }
    }

    /** That of the topic that it was copied from or, where that is gone for good, of the one that the copy stands in. */
    private Uuid topicOfOriginal(RecordCoordinates original, RecordCoordinates copy) {
        try {
            return find(original, original.offset(), this.positionsOfOriginals);
        } catch (ExecutionException ex) {
            if (ex.getCause() instanceof UnknownTopicOrPartitionException) {
                return topicOf(copy);
            }
            throw unknown(original, OF_KEY, (ex.getCause() != null) ? ex.getCause() : ex);
        }
    }

    private Uuid find(RecordCoordinates record, long last, Map<TopicPartition, Position> known)
            throws ExecutionException {
        TopicPartition partition = new TopicPartition(record.topic(), record.partition());
        Position before = known.get(partition);
        Uuid id = null;
        if (before == null) {
            id = (known == this.positions) ? answerOfThisMoment(record.topic()) : null;
        } else if (record.offset() > before.offset()) {
            id = before.topicId();
        }
        if (id == null) {
            long askedAt = this.nanoTime.getAsLong();
            id = ask(record, OF_KEY);
            this.ends.remove(partition);
            this.answers.put(record.topic(), new Answer(id, askedAt));
        }
        known.put(partition, new Position(id, last));
        return id;
    }

    /** An older one may be of a topic that has been deleted since: no offset of the partition has gone back to show that. */
    private @Nullable Uuid answerOfThisMoment(String topic) {
        Answer answer = this.answers.get(topic);
        return (answer != null && this.nanoTime.getAsLong() - answer.askedAt() < MOMENT_NANOS)
                ? answer.topicId()
                : null;
    }

    private Uuid ask(RecordCoordinates record, String use) throws ExecutionException {
        try {
            return this.lookup.topicId(BrokerConnection.of(this.container), record.topic());
        } catch (InterruptedException ex) {
            Thread.currentThread().interrupt();
            throw unknown(record, use, ex);
        } catch (TimeoutException | RuntimeException ex) {
            throw unknown(record, use, ex);
        }
    }

    private TopicUnknownException unknown(RecordCoordinates record, String use, Throwable cause) {
        return new TopicUnknownException(
                ("The message %s is recognised by its %s, which belongs to the topic '%s' as it is there now, and the"
                                + " brokers %s did not tell of it: %s. The message waits, as it could be lost or"
                                + " processed twice otherwise. See that the brokers can be reached with the"
                                + " settings of the listener's consumer, that there is such a topic, and that the"
                                + " application may describe it.")
                        .formatted(
                                record,
                                use,
                                record.topic(),
                                BrokerConnection.of(this.container).servers(),
                                cause),
                cause);
    }
}
