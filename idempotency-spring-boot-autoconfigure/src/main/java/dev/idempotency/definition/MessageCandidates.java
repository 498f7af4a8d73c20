package dev.idempotency.definition;

import dev.idempotency.RecordCoordinates;
import dev.idempotency.key.MessageIdResolver;
import dev.idempotency.key.MessageView;
import dev.idempotency.store.Candidate;

/**
 * Candidates that are recognised by an id.
 *
 * @param ids who finds it
 * @param ofRecords whether the id is that of the record: then a copy, as in retry topics, is another message
 */
record MessageCandidates(MessageIdResolver ids, boolean ofRecords) implements CandidateFactory {

    @Override
    public Candidate create(int position, MessageView message) {
        RecordCoordinates coordinates =
                this.ofRecords ? RecordCoordinates.of(message.record()) : RecordCoordinates.original(message.record());
        return new Candidate(position, message.record(), this.ids.resolve(message), coordinates);
    }

    @Override
    public boolean isOfRecord() {
        return this.ids.isOfRecord();
    }
}
