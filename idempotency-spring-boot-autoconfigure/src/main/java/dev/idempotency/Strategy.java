package dev.idempotency;

/** How the messages of a listener are recognised. What each sees and does not see is in {@code docs/strategies.md}. */
public enum Strategy {

    /**
     * By an id that the message carries: a row per message, remembered for the retention. Sees redeliveries,
     * republications, and rewinds within the retention.
     */
    MESSAGE_ID(true),

    /**
     * By the offset of its record: a row per partition, for ever. Sees redeliveries and rewinds, however old; a message that
     * was published twice it takes for two.
     */
    OFFSET(false),

    /**
     * By the version of the entity whose state it carries: a row per entity, remembered for the retention from its last
     * change on. Only what is newer than the last one enters; the same version again is a duplicate, an older one is stale.
     */
    VERSION(true),

    /**
     * By a unique constraint of the application's own, which the listener's insert violates: nothing is written besides. Sees
     * whatever that constraint refuses, for as long as the row is there. The listener is called with duplicates, too, and
     * what it did is rolled back. PostgreSQL only.
     */
    UNIQUE_CONSTRAINT(false);

    private final boolean forgetful;

    Strategy(boolean forgetful) {
        this.forgetful = forgetful;
    }

    /** Whether what was processed is forgotten when its retention is over. */
    public boolean isForgetful() {
        return this.forgetful;
    }
}
