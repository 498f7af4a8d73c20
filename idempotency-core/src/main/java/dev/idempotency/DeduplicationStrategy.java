package dev.idempotency;

/** How the messages of a listener are recognised. What each sees and does not see is in {@code docs/strategies.md}. */
public enum DeduplicationStrategy {

    /** By an id of the message: a row each. Sees redeliveries, republications and rewinds, within the retention. */
    MESSAGE_ID(true),

    /** By the offset of its record: a row per partition. Recognises redeliveries and rewinds at any time, but no republications. */
    OFFSET(false),

    /**
     * By the version of the entity whose state it carries: a row per entity, for the retention from its last change on. Only
     * what is newer than the last one enters; the same version again is a duplicate, an older one is stale.
     */
    VERSION(true),

    /**
     * By a unique constraint of the application's own, which the listener's insert violates, for as long as the row is there.
     * The listener is called with duplicates, too, and what it did is rolled back. PostgreSQL only.
     */
    UNIQUE_CONSTRAINT(false);

    private final boolean forgetful;

    DeduplicationStrategy(boolean forgetful) {
        this.forgetful = forgetful;
    }

    /** Whether what was processed is forgotten when its retention is over. */
    public boolean isForgetful() {
        return this.forgetful;
    }
}
