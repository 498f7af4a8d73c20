package dev.idempotency.listener;

import dev.idempotency.MessageId;
import dev.idempotency.RecordCoordinates;
import dev.idempotency.inbox.DeliveredMessage;
import java.util.ArrayList;
import java.util.List;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.jspecify.annotations.Nullable;

/** One message of a delivery that asks to enter: where it stands, and what is known of it before the claim. */
final class Candidate {

    private final int position;
    private final ConsumerRecord<?, ?> record;
    private final @Nullable MessageId id;
    private final RecordCoordinates coordinates;
    private int unrecordedCalls;

    /**
     * A message that has not been claimed yet.
     *
     * @param position where it stands in the delivery
     * @param id without one it enters unclaimed
     */
    Candidate(int position, ConsumerRecord<?, ?> record, @Nullable MessageId id) {
        this.position = position;
        this.record = record;
        this.id = id;
        this.coordinates = RecordCoordinates.original(record);
    }

    int position() {
        return this.position;
    }

    ConsumerRecord<?, ?> record() {
        return this.record;
    }

    @Nullable
    MessageId id() {
        return this.id;
    }

    RecordCoordinates coordinates() {
        return this.coordinates;
    }

    /** The listener was called with it, in an attempt that was rolled back and of which the inbox is not told. */
    void countUnrecordedCall() {
        this.unrecordedCalls++;
    }

    /** The inbox has been told of all calls. */
    void forgetUnrecordedCalls() {
        this.unrecordedCalls = 0;
    }

    /** Those among the candidates that the inbox can keep: without an id nobody could find a message again. */
    static List<DeliveredMessage> delivered(List<Candidate> candidates) {
        List<DeliveredMessage> messages = new ArrayList<>(candidates.size());
        for (Candidate candidate : candidates) {
            if (candidate.id != null) {
                messages.add(new DeliveredMessage(
                        candidate.id, candidate.coordinates, candidate.record, candidate.unrecordedCalls));
            }
        }
        return messages;
    }
}
