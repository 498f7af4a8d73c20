package dev.idempotency.chaos.consumer;

import java.util.List;

/** A fault built into the consumers, to test the checker. */
public enum Sabotage {
    NONE,

    /** The claim is committed before the work: what fails then is lost. */
    SEPARATE_CLAIM,

    /** Offsets are committed before the work: what a crash interrupts is lost. */
    OFFSET_FIRST,

    /** Nothing stays claimed: duplicates are applied, and old versions after new ones. */
    NO_CLAIM;

    /**
     * Returns the profiles of the listeners that can run with it. Only claims of ids can be committed separately, a kill rarely hits the moment between a batch and its offsets, and only the newest version has to arrive.
     */
    public List<String> listeners() {
        return switch (this) {
            case NONE ->
                List.of(
                        "record",
                        "batch",
                        "poll",
                        "at-commit",
                        "inbox",
                        "handler",
                        "manual",
                        "offset",
                        "offset-batch",
                        "version",
                        "version-poll",
                        "unique",
                        "steps");
            case SEPARATE_CLAIM -> List.of("record", "batch", "poll", "manual");
            case NO_CLAIM ->
                List.of("record", "batch", "poll", "manual", "offset", "version", "version-poll", "unique");
            case OFFSET_FIRST -> List.of("record", "batch", "offset", "offset-batch", "unique");
        };
    }
}
