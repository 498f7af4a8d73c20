package dev.idempotency.definition;

import dev.idempotency.key.MessageView;
import dev.idempotency.store.Candidate;

/** Makes of a delivered message a candidate, with what a listener's strategy recognises it by. */
public interface CandidateFactory {

    /**
     * Identifies a message.
     *
     * @param position where it stands in the delivery
     * @throws dev.idempotency.UnusableKeyException if it cannot be identified
     */
    Candidate create(int position, MessageView message);

    /** Whether it looks at nothing but the record, so that a message is identified before its record is converted. */
    boolean isOfRecord();
}
