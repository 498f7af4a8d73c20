package dev.idempotency.metrics;

/** Names of the meters and of their tags. {@code docs/observability.md} says what each of them measures. */
public final class IdempotencyMeters {

    public static final String MESSAGES = "idempotency.messages";
    public static final String DEDUP_HITS = "idempotency.dedup.hits";
    public static final String DEDUP_CONFLICTS = "idempotency.dedup.conflicts";
    public static final String DEDUP_AGE = "idempotency.dedup.age";
    public static final String RETENTION = "idempotency.retention";
    public static final String LAG = "idempotency.lag";
    public static final String CLAIM = "idempotency.claim";
    public static final String LOCK_WAIT = "idempotency.lock.wait";
    public static final String LISTENER = "idempotency.listener";
    public static final String STEPS = "idempotency.steps";
    public static final String RETRIES = "idempotency.retries";
    public static final String DEAD_LETTERS = "idempotency.dead.letters";
    public static final String DEAD_LETTERS_REFUSED = "idempotency.dead.letters.refused";
    public static final String OUTAGE = "idempotency.outage";
    public static final String POSITION_RESETS = "idempotency.position.resets";
    public static final String CLEANUP = "idempotency.cleanup";
    public static final String CLEANUP_DELETED = "idempotency.cleanup.deleted";
    public static final String CLEANUP_FAILURES = "idempotency.cleanup.failures";
    public static final String STORE_ROWS = "idempotency.store.rows";
    public static final String STORE_OLDEST_AGE = "idempotency.store.oldest.age";
    public static final String SLOT_AGE = "idempotency.ring.slot.age";
    public static final String INBOX_REPLAYS = "idempotency.inbox.replays";
    public static final String INBOX_UNRECORDED = "idempotency.inbox.unrecorded";
    public static final String RECONCILIATION = "idempotency.reconciliation";
    public static final String RECONCILIATION_MISSING = "idempotency.reconciliation.missing";

    public static final String CONSUMER = "consumer";
    public static final String SLOT = "slot";
    public static final String OUTCOME = "outcome";
    public static final String KIND = "kind";
    public static final String RESULT = "result";

    private IdempotencyMeters() {}
}
