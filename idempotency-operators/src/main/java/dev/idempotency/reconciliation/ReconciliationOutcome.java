package dev.idempotency.reconciliation;

/** The fate of a record that a group has committed. Its text is its name in reports. */
public enum ReconciliationOutcome {

    /** It is remembered as processed. */
    PROCESSED("processed"),

    /** Another record with the same id is remembered as processed. */
    DUPLICATE("duplicates"),

    /** It waits in a retry topic. */
    RETRYING("retrying"),

    /** It is in a dead-letter topic of its consumer. */
    DEAD_LETTERED("deadLettered"),

    /** The {@link dev.idempotency.inbox.Inbox} has it as failed, replayed or forgotten on purpose. */
    FAILED("failedInInbox"),

    /** The listener's filter excludes it. */
    FILTERED("filtered"),

    /** It has no key that could be looked for, and is in no dead-letter topic. Nothing more can be said. */
    WITHOUT_KEY("withoutKey"),

    /** It cannot be read, and is in no dead-letter topic. */
    UNREADABLE("unreadable"),

    /** It is not remembered, but comes before what its consumer still knows of its partition. Nothing more can be said. */
    NOT_JUDGED("notJudged"),

    /** It should be remembered, and is not. */
    MISSING("missing");

    private final String text;

    ReconciliationOutcome(String text) {
        this.text = text;
    }

    @Override
    public String toString() {
        return this.text;
    }
}
