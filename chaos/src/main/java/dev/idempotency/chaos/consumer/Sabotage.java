package dev.idempotency.chaos.consumer;

import java.util.List;

/** A fault built into the consumers, to test the checker. */
public enum Sabotage {
    NONE,

    /** The claim is committed before the work, so that failed messages are lost. */
    SEPARATE_CLAIM,

    /** Offsets are committed before the work, so that a crash loses messages. */
    OFFSET_FIRST,

    /** Claims are deleted, so that duplicates are applied, and old versions after new ones. */
    NO_CLAIM;

    /**
     * Returns the profiles of the listeners that can reveal it. Only claims of ids can be committed separately, a kill rarely
     * happens between a batch and its offsets, and only the newest version must arrive.
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
