package dev.idempotency.chaos.consumer;

import java.util.List;

/** What is broken in the consumers on purpose, to see whether the checker finds it. */
public enum Sabotage {
    NONE,

    /** The claim is committed before the work: what fails then is lost. */
    SEPARATE_CLAIM,

    /** Offsets are committed before the work: what a crash interrupts is lost. */
    OFFSET_FIRST,

    /** Nothing stays claimed: duplicates are applied, and old versions after new ones. */
    NO_CLAIM;

    /**
     * The listeners that can be run with it, by their profiles: a claim of another strategy than that of ids cannot be
     * committed by itself; between a batch and its offsets nobody is killed but by chance; and of versions only the newest
     * has to arrive.
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
