package dev.idempotency.chaos.check;

import java.util.List;
import java.util.Set;

/** The promise of a strategy, checked against the messages sent. */
public interface Expectation {

    /**
     * Holds what became of the messages of a consumer against it.
     *
     * @param applied the ids of what was applied, in order
     * @param dead the ids of what was dead-lettered
     */
    Verdict check(String consumer, List<String> applied, Set<String> dead);
}
