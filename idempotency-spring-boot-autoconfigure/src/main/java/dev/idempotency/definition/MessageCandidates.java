package dev.idempotency.definition;

import dev.idempotency.MessageId;
import dev.idempotency.RecordCoordinates;
import dev.idempotency.key.MessageIdResolver;
import dev.idempotency.key.MessageView;
import dev.idempotency.store.Candidate;
import java.util.Set;
import org.apache.kafka.clients.consumer.ConsumerRecord;

/**
 * Candidates that are recognised by the id of their message, whichever record carries it.
 *
 * @param ids who finds it
 * @param conflicts what the payload is known by, to find an id that is used twice
 */
record MessageCandidates(MessageIdResolver ids, ConflictHandling conflicts) implements CandidateFactory {

    @Override
    public Candidate create(int position, MessageView message) {
        ConsumerRecord<?, ?> record = message.record();
        MessageId id = this.ids.resolve(message);
        RecordCoordinates coordinates = RecordCoordinates.original(record);
        Long digest = (id != null) ? this.conflicts.digest(record, coordinates) : null;
        return new Candidate(position, record, id, coordinates, digest);
    }

    @Override
    public Set<String> variables() {
        return this.ids.variables();
    }
}
