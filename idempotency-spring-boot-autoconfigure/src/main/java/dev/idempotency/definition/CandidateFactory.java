package dev.idempotency.definition;

import dev.idempotency.key.MessageView;
import dev.idempotency.store.Candidate;
import java.util.Set;

/** Makes of a delivered message a candidate, with what a listener's strategy recognises it by. */
public interface CandidateFactory {

    /**
     * Identifies a message.
     *
     * @param position where it stands in the delivery
     * @throws dev.idempotency.UnusableKeyException if it cannot be identified
     */
    Candidate create(int position, MessageView message);

    /** The variables that it needs of the converted message, {@code payload} or names of arguments: none, if the record will do. */
    Set<String> variables();
}
