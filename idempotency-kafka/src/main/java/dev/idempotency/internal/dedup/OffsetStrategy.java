package dev.idempotency.internal.dedup;

import dev.idempotency.ConsumerWaitingException;
import dev.idempotency.ConsumerWaitingException.Awaited;
import dev.idempotency.DuplicateKind;
import dev.idempotency.MessageId;
import dev.idempotency.RecordCoordinates;
import dev.idempotency.StoreFailedException;
import dev.idempotency.event.Duplicate;
import dev.idempotency.event.IdempotencyEventListener;
import dev.idempotency.internal.database.PositionClaim;
import dev.idempotency.internal.kafka.TopicIdTracker;
import dev.idempotency.internal.store.JdbcPositionStore;
import dev.idempotency.internal.store.PartitionPosition;
import dev.idempotency.internal.store.StoreExceptionTranslator;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Recognises messages by the offsets of their records. The position of their partition is moved past them in their
 * transaction, which another one of the same partition waits for.
 *
 * <p>A position that was left by another topic of the same name, or by one whose log ends before it, is reset. It is
 * moved without a look at it, but read first after a duplicate, as these seldom come alone.
 */
final class OffsetStrategy implements ClaimStrategy {

    private static final Logger logger = LoggerFactory.getLogger(OffsetStrategy.class);

    private static final Comparator<TopicPartition> BY_NAME =
            Comparator.comparing(TopicPartition::topic).thenComparing(TopicPartition::partition);

    private final String consumer;
    private final JdbcPositionStore positions;
    private final TopicIdTracker topics;
    private final IdempotencyEventListener observer;

    /** A guess, shared by all threads of the consumer: a wrong one costs time only. */
    private volatile boolean duplicatesExpected;

    OffsetStrategy(
            String consumer, JdbcPositionStore positions, TopicIdTracker topics, IdempotencyEventListener observer) {
        this.consumer = consumer;
        this.positions = positions;
        this.topics = topics;
        this.observer = observer;
    }

    /** One by one, each record moves the position past those that should have come before it. */
    @Override
    public void requireOrder(Stream<RecordCoordinates> delivered) {
        Map<TopicPartition, RecordCoordinates> last = new HashMap<>();
        delivered.forEach(next -> {
            RecordCoordinates before = last.put(new TopicPartition(next.topic(), next.partition()), next);
            if (before != null && before.offset() >= next.offset()) {
                throw new StoreFailedException(
                        ("Records of a partition are not in the order of their offsets, by which consumer '%3$s'"
                                        + " recognises duplicates: %1$s comes after %2$s. It waits. Let no BatchInterceptor reorder"
                                        + " or repeat records.")
                                .formatted(next, before, this.consumer),
                        null);
            }
        });
    }

    @Override
    public ClaimResult claim(List<InboundMessage> messages) {
        List<PositionClaim> claims = claims(messages);
        Map<TopicPartition, Long> processedBefore = StoreExceptionTranslator.attempt(
                () -> "claim " + messages.get(0).coordinates(), () -> move(claims));
        List<InboundMessage> accepted = new ArrayList<>(messages.size());
        List<Duplicate> duplicates = new ArrayList<>();
        for (InboundMessage message : messages) {
            RecordCoordinates coordinates = message.coordinates();
            long before = Objects.requireNonNull(processedBefore.get(partition(message)));
            if (coordinates.offset() >= before) {
                accepted.add(message);
            } else {
                MessageId id = Objects.requireNonNull(message.id());
                duplicates.add(new Duplicate(id, coordinates, DuplicateKind.REDELIVERY, null, null));
            }
        }
        return new ClaimResult(accepted, duplicates);
    }

    /** Moves positions, and returns the offsets before which the records of each partition have been processed. */
    private Map<TopicPartition, Long> move(List<PositionClaim> claims) {
        Map<TopicPartition, Long> processedBefore = new HashMap<>();
        if (this.duplicatesExpected && claims.size() == 1) {
            Long passed = findPassed(claims.get(0));
            if (passed != null) {
                processedBefore.put(partition(claims.get(0)), passed);
                return processedBefore;
            }
        }
        Map<PositionClaim, Long> moved = this.positions.move(claims);
        for (PositionClaim claim : claims) {
            Long before = moved.get(claim);
            before = (before != null) ? before : findPassed(claim);
            processedBefore.put(partition(claim), (before != null) ? before : processedBefore(claim));
        }
        this.duplicatesExpected = moved.size() < claims.size();
        return processedBefore;
    }

    /** The position of a claim's partition, if it is beyond doubt that all of its records have been processed. */
    private @Nullable Long findPassed(PositionClaim claim) {
        Long position = this.positions.findPassed(claim);
        return (position != null && this.topics.endOf(partition(claim), position) >= position) ? position : null;
    }

    /** One for each partition, from its first record to its last. */
    private List<PositionClaim> claims(List<InboundMessage> messages) {
        Map<TopicPartition, List<RecordCoordinates>> byPartition = new TreeMap<>(BY_NAME);
        for (InboundMessage message : messages) {
            byPartition
                    .computeIfAbsent(partition(message), any -> new ArrayList<>())
                    .add(message.coordinates());
        }
        return byPartition.values().stream().map(this::claimOf).toList();
    }

    private PositionClaim claimOf(List<RecordCoordinates> ofPartition) {
        RecordCoordinates from = ofPartition.get(0);
        long last = ofPartition.get(ofPartition.size() - 1).offset();
        Uuid topicId = this.topics.topicIdOf(from, last);
        return new PositionClaim(
                this.consumer, from.topic(), from.partition(), topicId.toString(), from.offset(), last + 1);
    }

    /** The same where there is doubt: the position is locked, and reset if it is of no use any more. */
    private long processedBefore(PositionClaim claim) {
        PartitionPosition position = this.positions.lock(claim);
        if (position == null) {
            throw new StoreFailedException(
                    "The position of consumer '%s' for %s was deleted concurrently. The message is redelivered."
                            .formatted(this.consumer, claim),
                    null);
        }
        TopicPartition partition = partition(claim);
        if (!position.topicId().equals(claim.topicId())) {
            requireCurrentTopic(claim, partition);
            return reset(claim, position, "the topic was deleted and created again since");
        }
        long end = this.topics.endOf(partition, position.nextOffset());
        return (end < position.nextOffset())
                ? reset(claim, position, "the log of the partition ends before it, at " + end)
                : position.nextOffset();
    }

    /** Records of a topic that is gone may still be held by a consumer: they must not set the position of the new one back. */
    private void requireCurrentTopic(PositionClaim claim, TopicPartition partition) {
        String current = this.topics.askAgain(partition).toString();
        if (!current.equals(claim.topicId())) {
            throw new ConsumerWaitingException(
                    Awaited.BROKER,
                    ("The topic '%s' was deleted and created again while consumer '%s' had records of it, such as %s. They"
                                    + " are read again from the topic that is there now.")
                            .formatted(claim.topic(), this.consumer, claim),
                    null);
        }
    }

    private long reset(PositionClaim claim, PartitionPosition position, String why) {
        this.positions.reset(claim);
        RecordCoordinates first = new RecordCoordinates(claim.topic(), claim.partition(), claim.from());
        logger.warn(
                "Consumer '{}' had processed {}-{} up to offset {}, but {}: the position is reset, and records from {} on"
                        + " are processed",
                this.consumer,
                claim.topic(),
                claim.partition(),
                position.nextOffset() - 1,
                why,
                first);
        this.observer.positionReset(first);
        return claim.from();
    }

    private static TopicPartition partition(InboundMessage message) {
        return new TopicPartition(
                message.coordinates().topic(), message.coordinates().partition());
    }

    private static TopicPartition partition(PositionClaim claim) {
        return new TopicPartition(claim.topic(), claim.partition());
    }
}
