package dev.idempotency.metrics;

import dev.idempotency.observe.Outcome;

/**
 * Names of the meters and of their tags.
 *
 * <table>
 * <caption>Meters</caption>
 * <tr><th>meter</th><th>type</th><th>tags</th><th>what it measures</th></tr>
 * <tr><td>{@value #MESSAGES}</td><td>counter</td><td>{@value #CONSUMER}, {@value #OUTCOME}</td>
 * <td>messages by {@link Outcome}, after the commit; {@code failed} counts every attempt</td></tr>
 * <tr><td>{@value #DEDUP_HITS}</td><td>counter</td><td>{@value #CONSUMER}, {@value #KIND}</td>
 * <td>duplicates by {@link dev.idempotency.DuplicateKind}</td></tr>
 * <tr><td>{@value #DEDUP_CONFLICTS}</td><td>counter</td><td>{@value #CONSUMER}</td>
 * <td>messages with the id of another one, and another payload, which were dropped or failed</td></tr>
 * <tr><td>{@value #DEDUP_AGE}</td><td>timer</td><td>{@value #CONSUMER}</td>
 * <td>how long before its duplicate a message was processed</td></tr>
 * <tr><td>{@value #RETENTION}</td><td>gauge</td><td>{@value #CONSUMER}</td>
 * <td>how long messages are remembered, to compare the ages with</td></tr>
 * <tr><td>{@value #CLAIM}</td><td>timer</td><td>{@value #CONSUMER}, {@value #RESULT}</td>
 * <td>claims: {@code claimed}, {@code duplicate} (all were duplicates, or stale), {@code mixed} (a batch with
 * some of each), {@code timeout}, {@code failed}; a duplicate's includes the look-up of its original</td></tr>
 * <tr><td>{@value #LISTENER}</td><td>timer</td><td>{@value #CONSUMER}</td>
 * <td>transactions in which the listener ran, from the wait for a connection to the commit</td></tr>
 * <tr><td>{@value #RETRIES}</td><td>counter</td><td>{@value #CONSUMER}</td>
 * <td>messages that came again because they had failed</td></tr>
 * <tr><td>{@value #DEAD_LETTERS}</td><td>counter</td><td>{@value #CONSUMER}</td>
 * <td>messages published to a dead-letter topic</td></tr>
 * <tr><td>{@value #OUTAGE}</td><td>gauge</td><td>{@value #CONSUMER}</td>
 * <td>1 while the consumer waits for the database, the broker or keys, otherwise 0</td></tr>
 * <tr><td>{@value #POSITION_RESETS}</td><td>counter</td><td>{@value #CONSUMER}</td>
 * <td>positions that no longer held, as their topic was created anew or its log ended before them, of consumers
 * with {@link dev.idempotency.Strategy#OFFSET}</td></tr>
 * <tr><td>{@value #CLEANUP}</td><td>timer</td><td>{@value #RESULT}</td>
 * <td>runs of the cleanup: {@code complete}, or {@code behind} when there was more to forget</td></tr>
 * <tr><td>{@value #CLEANUP_DELETED}</td><td>counter</td><td></td><td>messages that the cleanup forgot</td></tr>
 * <tr><td>{@value #CLEANUP_FAILURES}</td><td>counter</td><td></td><td>runs of the cleanup that failed</td></tr>
 * <tr><td>{@value #STORE_ROWS}</td><td>gauge</td><td></td>
 * <td>messages in the store, as the database estimates without counting</td></tr>
 * <tr><td>{@value #STORE_OLDEST_AGE}</td><td>gauge</td><td>{@value #CONSUMER}</td>
 * <td>age of the oldest message that is remembered; not a number where there is none</td></tr>
 * <tr><td>{@value #INBOX_REPLAYS}</td><td>counter</td><td>{@value #CONSUMER}</td>
 * <td>messages of the inbox that were sent to their topics again</td></tr>
 * <tr><td>{@value #INBOX_UNRECORDED}</td><td>counter</td><td>{@value #CONSUMER}</td>
 * <td>failures that could not be recorded in the inbox</td></tr>
 * <tr><td>{@value #RECONCILIATION}</td><td>timer</td><td>{@value #CONSUMER}, {@value #RESULT}</td>
 * <td>reconciliations: {@code completed}, {@code cancelled}, {@code failed}</td></tr>
 * <tr><td>{@value #RECONCILIATION_MISSING}</td><td>gauge</td><td>{@value #CONSUMER}</td>
 * <td>missing messages that the last reconciliation of this instance found and did not send again; not a number before there
 * was one</td></tr>
 * </table>
 */
public final class IdempotencyMeters {

    public static final String MESSAGES = "idempotency.messages";
    public static final String DEDUP_HITS = "idempotency.dedup.hits";
    public static final String DEDUP_CONFLICTS = "idempotency.dedup.conflicts";
    public static final String DEDUP_AGE = "idempotency.dedup.age";
    public static final String RETENTION = "idempotency.retention";
    public static final String CLAIM = "idempotency.claim";
    public static final String LISTENER = "idempotency.listener";
    public static final String RETRIES = "idempotency.retries";
    public static final String DEAD_LETTERS = "idempotency.dead.letters";
    public static final String OUTAGE = "idempotency.outage";
    public static final String POSITION_RESETS = "idempotency.position.resets";
    public static final String CLEANUP = "idempotency.cleanup";
    public static final String CLEANUP_DELETED = "idempotency.cleanup.deleted";
    public static final String CLEANUP_FAILURES = "idempotency.cleanup.failures";
    public static final String STORE_ROWS = "idempotency.store.rows";
    public static final String STORE_OLDEST_AGE = "idempotency.store.oldest.age";
    public static final String INBOX_REPLAYS = "idempotency.inbox.replays";
    public static final String INBOX_UNRECORDED = "idempotency.inbox.unrecorded";
    public static final String RECONCILIATION = "idempotency.reconciliation";
    public static final String RECONCILIATION_MISSING = "idempotency.reconciliation.missing";

    public static final String CONSUMER = "consumer";
    public static final String OUTCOME = "outcome";
    public static final String KIND = "kind";
    public static final String RESULT = "result";

    private IdempotencyMeters() {}
}
