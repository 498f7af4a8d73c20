package dev.idempotency.chaos.check;

import java.util.List;
import java.util.Set;

/** The guarantee of a strategy, which is checked against the messages sent. */
public interface Expectation {

    /**
     * Checks the outcomes of a consumer's messages.
     *
     * @param applied the ids of applied messages, in order
     * @param dead the ids of dead-lettered messages
     */
    Verdict check(String consumer, List<String> applied, Set<String> dead);
}
