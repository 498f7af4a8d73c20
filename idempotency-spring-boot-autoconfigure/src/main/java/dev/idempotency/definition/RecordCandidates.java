package dev.idempotency.definition;

import dev.idempotency.RecordCoordinates;
import dev.idempotency.key.MessageIdResolver;
import dev.idempotency.key.MessageView;
import dev.idempotency.store.Candidate;
import java.util.Set;

/**
 * Candidates that are recognised by their record: a copy, as in retry topics, is another one.
 *
 * @param ids who names it
 */
record RecordCandidates(MessageIdResolver ids) implements CandidateFactory {

    @Override
    public Candidate create(int position, MessageView message) {
        return new Candidate(
                position, message.record(), this.ids.resolve(message), RecordCoordinates.of(message.record()));
    }

    @Override
    public Set<String> variables() {
        return Set.of();
    }
}
