package dev.idempotency.internal.store;

import static dev.idempotency.internal.store.RingServer.claims;
import static dev.idempotency.internal.store.RingServer.id;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatException;

import dev.idempotency.internal.database.RetentionMode;
import dev.idempotency.internal.database.Ring;
import dev.idempotency.internal.retention.ProcessedMessageCleanup;
import dev.idempotency.internal.retention.RingCleanup;
import dev.idempotency.retention.Cleanup;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.jdbc.core.JdbcTemplate;

/** A slot is emptied once nearly all of its rows have expired, and not before. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class RingCleanupIT {

    private static final Duration WEEK = Duration.ofDays(7);
    private static final Duration MONTH = Duration.ofDays(30);
    private static final Map<String, Duration> RETENTIONS = Map.of("billing", WEEK, "idle", WEEK);

    /** Inserts rows of a given time into a slot. */
    private static final String FILL = """
            insert into %s
                (consumer_id, message_id, processed_at, record_topic, record_partition, record_offset, payload_digest)
            select '%s', 'filled-' || number, timestamp with time zone '%s', 'topic', 0, number, number
            from generate_series(1, %d) as number
            """;

    private final RingServer server = new RingServer();
    private final JdbcProcessedMessageStore store = this.server.start(RetentionMode.RING);
    private final RingCleanup ring = new RingCleanup(this.store.database(), () -> RETENTIONS, MONTH);
    private final JdbcTemplate jdbc = this.server.jdbc;
    private Instant now;
    private int slot;
    private String table;

    @BeforeEach
    void fillTheOldestSlot() {
        this.jdbc.execute("truncate idempotency_processed, idempotency_activity");
        this.now = Instant.now();
        this.slot = this.ring.dueSlots().get(0);
        this.table = "idempotency_processed_" + this.slot;
        fill("billing", daysAgo(8), 100);
        this.server.claim(this.store, "billing", "order-1", id(this.now));
        this.jdbc.update(
                "update only idempotency_processed set processed_at = processed_at - interval '4 days' where message_id = 'order-1'");
    }

    /** A new id that belongs into the filled slot. */
    private String lateId() {
        Ring slots = new Ring(this.store.database());
        Instant time = this.now;
        while (slots.slotAt(time.toEpochMilli()) != this.slot) {
            time = time.minus(Duration.ofHours(1));
        }
        return id(time);
    }

    @AfterAll
    void close() {
        this.server.close();
    }

    private Instant daysAgo(double days) {
        return this.now.minusSeconds((long) (days * 86_400));
    }

    private void fill(String consumer, Instant time, int rows) {
        this.jdbc.execute(FILL.formatted(this.table, consumer, time, rows));
    }

    private boolean empty() {
        this.ring.noteActivity();
        return this.ring.empty(this.slot, this.ring::cutoff);
    }

    private int rows() {
        return this.server.count("only " + this.table);
    }

    @Test
    void aSlotWhoseMessagesHaveAllExpiredIsEmptied() {
        assertThat(empty()).isTrue();
        assertThat(rows()).isZero();
        assertThat(this.server.count("idempotency_processed")).isEqualTo(2);
        assertThat(empty()).isFalse();
    }

    /** As written with a wrong clock. */
    @Test
    void aMessageOfTheFutureIsKept() {
        this.jdbc.update(
                "update " + this.table + " set processed_at = now() + interval '10 days' where record_offset = 7");
        assertThat(empty()).isFalse();
        assertThat(rows()).isEqualTo(100);
    }

    /** The transaction that empties the slot puts back rows of idle consumers and others that have not expired. */
    @Test
    void whatMustBeKeptIsPutBackAsItWas() {
        this.jdbc.update("delete from " + this.table);
        fill("billing", daysAgo(8), 20_000);
        fill("idle", daysAgo(40), 300);
        fill("other", daysAgo(20), 3);
        this.jdbc.update(
                "update %s set record_topic = '{\"a\\,b\"} (''x'')', processed_at = '%s'::timestamptz - interval '1.234567 s' where consumer_id = 'billing' and record_offset = 7"
                        .formatted(this.table, daysAgo(1)));
        String kept =
                "select consumer_id, message_id, processed_at, record_topic, record_partition, record_offset, payload_digest from %s where consumer_id <> 'billing' or record_offset = 7 order by 1, 2"
                        .formatted(this.table);
        List<Map<String, Object>> before = this.jdbc.queryForList(kept);
        assertThat(empty()).isTrue();
        assertThat(this.jdbc.queryForList(kept)).isEqualTo(before).hasSize(304);
        assertThat(rows()).isEqualTo(304);
        assertThat(empty()).isFalse();
    }

    @Test
    void aSlotWithTooMuchToKeepIsLeftAlone() {
        fill("idle", daysAgo(40), 20_000);
        assertThat(empty()).isFalse();
        assertThat(rows()).isEqualTo(20_100);
    }

    /** Else it would be emptied, and all of it put back, by every run. */
    @Test
    void aSlotOfWhichNothingHasExpiredIsLeftAlone() {
        this.jdbc.update("delete from " + this.table);
        fill("idle", daysAgo(40), RingCleanup.MAX_KEPT);
        this.jdbc.update("update %s set record_topic = repeat('t', 249)".formatted(this.table));
        assertThat(empty()).isFalse();
    }

    @Test
    void anAbandonedConsumerGoesWithTheSlot() {
        fill("abandoned", daysAgo(31), 10);
        assertThat(empty()).isTrue();
        assertThat(rows()).isZero();
    }

    /** A pause longer than the retention counts as downtime: messages that were processed before it are remembered. */
    @Test
    void theReturnOfAConsumerForgetsNothing() {
        fill("idle", daysAgo(20), 10);
        this.ring.noteActivity();
        this.server.claim(this.store, "idle", id(this.now));
        assertThat(empty()).isFalse();
        assertThat(rows()).isEqualTo(110);
    }

    /** Both activities are in the same quarter of an hour. */
    @Test
    void aPauseOfMinutesIsSeenWhereTheRetentionIsShorter() {
        RingCleanup minutes = new RingCleanup(this.store.database(), () -> Map.of("idle", Duration.ofMinutes(2)), null);
        Instant quarter = Instant.ofEpochSecond(this.now.getEpochSecond() / 900 * 900 - 900);
        fill("idle", quarter.plusSeconds(60), 10);
        this.server.claim(this.store, "idle", "back");
        this.jdbc.update(
                "update only idempotency_processed set processed_at = ?::timestamptz where message_id = 'back'",
                quarter.plusSeconds(600).toString());
        minutes.noteActivity();
        assertThat(minutes.cutoff("idle")).isBefore(quarter.plusSeconds(60));
    }

    /** The claim commits while the emptying waits for the lock, and is found by the check under the lock. */
    @Test
    void aClaimThatCommitsBetweenLookAndLockIsKept() {
        String late = lateId();
        CompletableFuture<Boolean> emptied = this.server.transaction.execute(status -> {
            assertThat(this.store.claim(claims("billing", late))).hasSize(1);
            CompletableFuture<Boolean> other = CompletableFuture.supplyAsync(this::empty);
            awaitWaitingForSlot();
            return other;
        });
        assertThat(emptied.join()).isFalse();
        assertThat(rows()).isEqualTo(101);
        assertThat(this.server.claim(this.store, "billing", late)).isEmpty();
    }

    private void awaitWaitingForSlot() {
        Awaitility.await()
                .pollInterval(Duration.ofMillis(2))
                .until(() -> this.jdbc.queryForObject(
                                "select count(*) from pg_locks where not granted and mode = 'AccessExclusiveLock' and relation = ?::regclass",
                                Integer.class,
                                this.table)
                        > 0);
    }

    /** Both waits are short: the emptying is cancelled, and the next claim proceeds. */
    @Test
    void aClaimInFlightHasTheEmptyingTriedLater() {
        this.server.transaction.executeWithoutResult(status -> {
            this.store.claim(claims("billing", lateId()));
            CompletableFuture<Boolean> emptied = CompletableFuture.supplyAsync(this::empty);
            awaitWaitingForSlot();
            CompletableFuture<Integer> second = CompletableFuture.supplyAsync(
                    () -> this.server.claim(this.store, "billing", lateId()).size());
            assertThat(emptied.orTimeout(30, TimeUnit.SECONDS).join()).isFalse();
            assertThat(second.orTimeout(30, TimeUnit.SECONDS).join()).isEqualTo(1);
            status.setRollbackOnly();
        });
        assertThat(rows()).isEqualTo(101);
    }

    /** If the server ends the session while the slot is emptied or rows are put back, nothing has changed. */
    @ParameterizedTest
    @ValueSource(strings = {"after truncate", "before insert", "after insert"})
    void aCrashAtAnyPointUndoesTheEmptying(String point) {
        this.jdbc.update("delete from " + this.table);
        fill("billing", daysAgo(8), 20_000);
        fill("idle", daysAgo(40), 10);
        this.jdbc.execute("""
                create or replace function crash() returns trigger language plpgsql as
                $$ begin perform pg_terminate_backend(pg_backend_pid()); return null; end $$
                """);
        this.jdbc.execute("create trigger crash %s on %s execute function crash()".formatted(point, this.table));
        try {
            assertThatException().isThrownBy(this::empty);
            assertThat(rows()).isEqualTo(20_010);
        } finally {
            this.jdbc.execute("drop trigger crash on " + this.table);
        }
        assertThat(empty()).isTrue();
        assertThat(rows()).isEqualTo(10);
    }

    @Test
    void theCleanupEmptiesSlotsAndDeletesFromOneThatCannotBeEmptied() {
        int next = this.ring.dueSlots().get(2);
        this.table = "idempotency_processed_" + next;
        fill("billing", daysAgo(9), 2_500);
        fill("idle", daysAgo(40), RingCleanup.MAX_KEPT + 1);
        Cleanup cleanup = new Cleanup(
                List.of(
                        this.ring,
                        new ProcessedMessageCleanup(
                                "processed",
                                new ProcessedMessagePurge(this.store.database()),
                                () -> RETENTIONS,
                                MONTH)),
                List.of());
        this.server.claim(this.store, "billing", "order-4711", "order-4712");
        this.jdbc.update(
                "update only idempotency_processed set processed_at = processed_at - interval '9 days' where message_id = 'order-4711'");
        assertThat(cleanup.run().failure()).isNull();
        assertThat(this.server.count("only idempotency_processed_" + this.slot)).isZero();
        assertThat(rows()).isEqualTo(RingCleanup.MAX_KEPT + 1);
        assertThat(this.jdbc.queryForList("select message_id from only idempotency_processed", String.class))
                .containsExactly("order-1", "order-4712");
        assertThat(cleanup.run().deletedByTask()).containsEntry("ring", 0L);
    }

    @Test
    void aConsumerWhoseActivityIsNotNotedIsKept() {
        this.ring.noteActivity();
        fill("new", daysAgo(8), 1);
        assertThat(this.ring.empty(this.slot, this.ring::cutoff)).isFalse();
        assertThat(rows()).isEqualTo(101);
    }
}
