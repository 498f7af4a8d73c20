package dev.idempotency.chaos.consumer;

import java.util.List;

/** What is broken in the consumers on purpose, to see whether the checker finds it. */
public enum Sabotage {
    NONE,

    /** The claim is committed before the work: what fails then is lost. */
    SEPARATE_CLAIM,

    /** Offsets are committed before the work: what a crash interrupts is lost. */
    OFFSET_FIRST,

    /** Everything may enter: duplicates are applied. */
    NO_CLAIM;

    /** The listeners that can be run with it, by their profiles. */
    public List<String> listeners() {
        return switch (this) {
            case NONE -> List.of("record", "batch", "poll", "inbox", "handler", "manual");
            case SEPARATE_CLAIM, NO_CLAIM -> List.of("record", "batch", "poll", "manual");
            case OFFSET_FIRST -> List.of("record", "batch");
        };
    }
}
