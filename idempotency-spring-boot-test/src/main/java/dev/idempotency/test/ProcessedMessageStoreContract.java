package dev.idempotency.test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.idempotency.Claim;
import dev.idempotency.ClaimTimeoutException;
import dev.idempotency.MessageId;
import dev.idempotency.RecordCoordinates;
import dev.idempotency.UnprotectedCallException;
import dev.idempotency.store.ClaimAnswer;
import dev.idempotency.store.ProcessedMessage;
import dev.idempotency.store.ProcessedMessageStore;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Random;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.dao.DataAccessException;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

/**
 * Tests the contract of {@link ProcessedMessageStore}. Extend it to test a store or a
 * {@link dev.idempotency.internal.database.Dialect} on the real database.
 *
 * <p>Each test uses a separate consumer, so the database need not be empty. The pool needs ten connections.
 */
public abstract class ProcessedMessageStoreContract {

    private static final RecordCoordinates SOMEWHERE = new RecordCoordinates("topic", 3, 42);
    private static final Duration PATIENCE = Duration.ofSeconds(30);

    private String consumer;
    private ProcessedMessageStore store;
    private TransactionTemplate transaction;
    private ExecutorService threads;

    /**
     * Creates the store; called for each test.
     *
     * @param claimTimeout the maximum time that a claim waits for another transaction
     */
    protected abstract ProcessedMessageStore createStore(Duration claimTimeout);

    /** Returns the manager of the transactions that include the claims. */
    protected abstract PlatformTransactionManager transactionManager();

    /**
     * Ends the current transaction as the database does after an error or a deadlock: on PostgreSQL with a failing statement
     * whose exception is caught, on other databases with the statement {@code rollback}.
     */
    protected abstract void abortTransaction();

    @BeforeEach
    final void begin() {
        this.consumer = "contract/" + UUID.randomUUID();
        this.store = createStore(PATIENCE);
        this.transaction = new TransactionTemplate(transactionManager());
        this.threads = Executors.newCachedThreadPool();
    }

    @AfterEach
    final void end() {
        this.threads.shutdownNow();
    }

    @Test
    void aFreeMessageIsClaimedAndATakenOneIsNot() {
        assertThat(claim("a")).containsExactly(id("a"));
        assertThat(claim("a")).isEmpty();
        assertThat(claim("b")).containsExactly(id("b"));
        assertThat(this.store.hasProcessed(this.consumer)).isTrue();
    }

    @Test
    void ofManyMessagesExactlyTheFreeOnesAreClaimed() {
        claim("b", "d");
        assertThat(claim("e", "d", "c", "b", "a")).containsExactlyInAnyOrder(id("a"), id("c"), id("e"));
    }

    @Test
    void aRolledBackClaimIsFreeAgain() {
        this.transaction.executeWithoutResult(status -> {
            assertThat(this.store.claim(claims("a", "b"))).hasSize(2);
            status.setRollbackOnly();
        });
        assertThat(claim("a", "b")).hasSize(2);
    }

    @Test
    void aMessageThatTheSameTransactionHasClaimedIsTaken() {
        this.transaction.executeWithoutResult(status -> {
            assertThat(this.store.claim(claims("a"))).hasSize(1);
            assertThat(this.store.claim(claims("a", "b"))).containsExactly(id("b"));
            assertThat(this.store.find(Set.of(id("a")))).containsOnlyKeys(id("a"));
        });
        assertThat(claim("a", "b", "c")).containsExactly(id("c"));
    }

    @Test
    void aDuplicateLeavesTheTransactionUsable() {
        claim("a");
        this.transaction.executeWithoutResult(status -> {
            assertThat(this.store.claim(claims("a"))).isEmpty();
            assertThat(this.store.claim(claims("b"))).hasSize(1);
        });
        assertThat(claim("b")).isEmpty();
    }

    @Test
    void aClaimOutsideATransactionIsRefusedAndWritesNothing() {
        assertThatExceptionOfType(UnprotectedCallException.class).isThrownBy(() -> this.store.claim(claims("a")));
        assertThat(claim("a")).hasSize(1);
    }

    @Test
    void consumersDoNotSeeEachOthersMessages() {
        claim("a");
        Claim other = new Claim(new MessageId(this.consumer + "/other", "a"), SOMEWHERE);
        assertThat(this.<Set<MessageId>>inTransaction(() -> this.store.claim(List.of(other))))
                .containsExactly(other.id());
    }

    @Test
    void idsThatAreAlmostEqualAreDifferent() {
        String[] ids = {
            "a", "A", "a ", " a", "a\t", "\u00e4", "a\u0308", "\uff41", "a%", "a_", "a\\", "a'", "a\"", "a;--"
        };
        for (String id : ids) {
            assertThat(claim(id)).as(id).containsExactly(id(id));
        }
        assertThat(claim(ids)).isEmpty();
    }

    @Test
    void theLongestIdsFitInAnyScript() {
        String longest = "\u6f22".repeat(MessageId.MAX_VALUE_LENGTH);
        String emoji = "\ud83d\ude00".repeat(MessageId.MAX_VALUE_LENGTH / 2);
        assertThat(claim(longest, emoji)).containsExactlyInAnyOrder(id(longest), id(emoji));
        assertThat(this.store.find(List.of(id(longest), id(emoji)))).hasSize(2);
        String beginning = "x".repeat(10_000);
        assertThat(claim(digest(beginning + "a"), digest(beginning + "b"))).hasSize(2);
    }

    @Test
    void tenThousandMessagesAreClaimedAtOnce() {
        String[] ids = IntStream.range(0, 10_000).mapToObj(i -> "id-" + i).toArray(String[]::new);
        claim("id-17");
        assertThat(claim(ids)).hasSize(9_999).doesNotContain(id("id-17"));
    }

    @Test
    void theOriginalIsFoundWithItsRecordAndAge() {
        claim("a");
        Map<MessageId, ProcessedMessage> found = this.store.find(List.of(id("a"), id("unknown")));
        assertThat(found).containsOnlyKeys(id("a"));
        requireOriginal(found.get(id("a")));
    }

    @Test
    void aClaimIsAnsweredWithTheOriginalsOfThoseThatWereNotFree() {
        claim("b", "d");
        ClaimAnswer free = claimOrFind("a");
        assertThat(free.claimed()).containsExactly(id("a"));
        assertThat(free.originals()).isEmpty();
        ClaimAnswer many = claimOrFind("e", "d", "c", "b", "a");
        assertThat(many.claimed()).containsExactlyInAnyOrder(id("c"), id("e"));
        assertThat(many.originals()).containsOnlyKeys(id("a"), id("b"), id("d"));
        many.originals().values().forEach(ProcessedMessageStoreContract::requireOriginal);
    }

    @Test
    void theOriginalIsFoundThatOthersHaveCommittedSinceTheTransactionFirstRead() {
        this.transaction.executeWithoutResult(status -> {
            assertThat(this.store.find(List.of(id("a")))).isEmpty();
            assertThat(elsewhere(() -> claim("a"))).hasSize(1);
            requireOriginal(this.store.claimOrFind(claims("a")).originals().get(id("a")));
        });
    }

    @Test
    void theDigestOfAPayloadIsKeptWithItsClaim() {
        Claim first = new Claim(id("a"), SOMEWHERE, 42L);
        List<Claim> all = List.of(first, new Claim(id("b"), SOMEWHERE, -1L), new Claim(id("c"), SOMEWHERE));
        this.transaction.executeWithoutResult(status -> this.store.claim(List.of(first)));
        this.transaction.executeWithoutResult(status -> this.store.claim(all));
        for (Map<MessageId, ProcessedMessage> found : List.of(
                this.store.find(List.of(id("a"), id("b"), id("c"))),
                claimOrFind("c", "b", "a").originals())) {
            assertThat(found.get(id("a")).payloadDigest()).isEqualTo(42L);
            assertThat(found.get(id("b")).payloadDigest()).isEqualTo(-1L);
            assertThat(found.get(id("c")).payloadDigest()).isNull();
        }
        assertThat(claimOrFind("a").originals().get(id("a")).payloadDigest()).isEqualTo(42L);
    }

    private static void requireOriginal(ProcessedMessage original) {
        assertThat(original.coordinates()).isEqualTo(SOMEWHERE);
        assertThat(original.age()).isBetween(Duration.ZERO, Duration.ofMinutes(5));
    }

    @Test
    void aForgottenMessageCanBeClaimedAgain() {
        claim("a", "b");
        assertThat(this.store.forget(id("a"))).isTrue();
        assertThat(this.store.forget(id("a"))).isFalse();
        assertThat(claim("a", "b")).containsExactly(id("a"));
    }

    @Test
    void theSecondWaitsForTheFirstAndIsADuplicateIfThatCommits() throws Exception {
        assertThat(whileHeld("a", true, () -> claim("a"))).isEmpty();
        ClaimAnswer answer = whileHeld("c", true, () -> claimOrFind("b", "c", "d"));
        assertThat(answer.claimed()).containsExactlyInAnyOrder(id("b"), id("d"));
        assertThat(answer.originals()).containsOnlyKeys(id("c"));
    }

    @Test
    void theSecondWaitsForTheFirstAndClaimsIfThatRollsBack() throws Exception {
        assertThat(whileHeld("a", false, () -> claim("a"))).containsExactly(id("a"));
        assertThat(whileHeld("c", false, () -> claimOrFind("b", "c", "d")).claimed())
                .hasSize(3);
    }

    /** Returns the result of a second transaction, which waits for the one that holds a message. */
    private <T> T whileHeld(String held, boolean commits, Supplier<T> second) throws Exception {
        CountDownLatch claimed = new CountDownLatch(1);
        CountDownLatch mayEnd = new CountDownLatch(1);
        Future<?> first = hold(held, commits, claimed, mayEnd);
        await(claimed);
        Future<T> waiting = this.threads.submit(second::get);
        requireWaiting(waiting);
        mayEnd.countDown();
        first.get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
        return waiting.get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
    }

    private static void requireWaiting(Future<?> second) {
        assertThatExceptionOfType(TimeoutException.class).isThrownBy(() -> second.get(200, TimeUnit.MILLISECONDS));
    }

    private Future<?> hold(String id, boolean commits, CountDownLatch claimed, CountDownLatch mayEnd) {
        return this.threads.submit(() -> this.transaction.executeWithoutResult(status -> {
            this.store.claim(claims(id));
            claimed.countDown();
            await(mayEnd);
            if (!commits) {
                status.setRollbackOnly();
            }
        }));
    }

    @Test
    void aWaitThatTakesTooLongEndsWithAClaimTimeoutAndNothingWritten() throws Exception {
        ProcessedMessageStore impatient = createStore(Duration.ofSeconds(1));
        CountDownLatch claimed = new CountDownLatch(1);
        CountDownLatch mayEnd = new CountDownLatch(1);
        Future<?> first = hold("b", false, claimed, mayEnd);
        await(claimed);
        assertThatExceptionOfType(ClaimTimeoutException.class)
                .isThrownBy(() -> inTransaction(() -> impatient.claim(claims("a", "b"))));
        mayEnd.countDown();
        first.get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
        assertThat(claim("a", "b")).hasSize(2);
    }

    /** No message is held for too long, but together they are. */
    @Test
    void theTimeOfAClaimIsThatOfAllItsMessages() throws Exception {
        ProcessedMessageStore impatient = createStore(Duration.ofSeconds(1));
        String[] ids = {"a", "b", "c", "d", "e", "f"};
        CountDownLatch claimed = new CountDownLatch(ids.length);
        List<CountDownLatch> ends =
                Stream.of(ids).map(id -> new CountDownLatch(1)).toList();
        for (int i = 0; i < ids.length; i++) {
            hold(ids[i], false, claimed, ends.get(i));
        }
        await(claimed);
        for (int i = 0; i < ids.length; i++) {
            CompletableFuture.delayedExecutor(800L * (i + 1), TimeUnit.MILLISECONDS)
                    .execute(ends.get(i)::countDown);
        }
        assertThatExceptionOfType(ClaimTimeoutException.class)
                .isThrownBy(() -> inTransaction(() -> impatient.claim(claims(ids))));
        ends.forEach(CountDownLatch::countDown);
    }

    @Test
    void aTransactionThatTheDatabaseHasEndedIsNotHeld() {
        this.transaction.executeWithoutResult(status -> {
            this.store.claim(claims("a"));
            assertThat(this.store.watchTransaction().getAsBoolean()).isTrue();
        });
        assertThat(claim("a")).isEmpty();
        this.transaction.executeWithoutResult(status -> {
            this.store.claim(claims("b"));
            Supplier<Boolean> held = this.store.watchTransaction()::getAsBoolean;
            abortTransaction();
            assertThat(held.get()).isFalse();
            status.setRollbackOnly();
        });
        assertThat(claim("b")).hasSize(1);
    }

    @Test
    void aTransactionWithoutClaimsIsWatchedToo() {
        claim("a");
        this.transaction.executeWithoutResult(status -> {
            this.store.forget(id("a"));
            assertThat(this.store.watchTransaction().getAsBoolean()).isTrue();
            status.setRollbackOnly();
        });
        this.transaction.executeWithoutResult(status -> {
            this.store.forget(id("a"));
            Supplier<Boolean> held = this.store.watchTransaction()::getAsBoolean;
            abortTransaction();
            assertThat(held.get()).isFalse();
            status.setRollbackOnly();
        });
    }

    /** Otherwise the listener would write what the other transaction has already written. */
    @Test
    void theClaimOfAnotherDoesNotPassForTheOwn() {
        this.transaction.executeWithoutResult(status -> {
            this.store.claim(claims("a"));
            Supplier<Boolean> held = this.store.watchTransaction()::getAsBoolean;
            abortTransaction();
            assertThat(elsewhere(() -> claim("a"))).hasSize(1);
            assertThat(held.get()).isFalse();
            status.setRollbackOnly();
        });
        assertThat(claim("a")).isEmpty();
    }

    private <T> T elsewhere(Supplier<T> work) {
        try {
            return this.threads.submit(work::get).get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
        } catch (Exception ex) {
            throw new IllegalStateException(ex);
        }
    }

    /** Both wait for a message that a third transaction holds; unless ids are sorted, they reach it from opposite ends. */
    @Test
    void batchesWithTheSameMessagesInOppositeOrderDoNotDeadlock() throws Exception {
        CountDownLatch claimed = new CountDownLatch(1);
        CountDownLatch mayEnd = new CountDownLatch(1);
        Future<?> first = hold("id-55", false, claimed, mayEnd);
        await(claimed);
        List<String> ids = IntStream.range(10, 100).mapToObj(i -> "id-" + i).toList();
        List<String> reversed = new ArrayList<>(ids);
        Collections.reverse(reversed);
        Future<Set<MessageId>> forwards = this.threads.submit(() -> claim(ids.toArray(String[]::new)));
        Future<Set<MessageId>> backwards = this.threads.submit(() -> claim(reversed.toArray(String[]::new)));
        requireWaiting(forwards);
        requireWaiting(backwards);
        mayEnd.countDown();
        first.get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
        List<MessageId> all = new ArrayList<>(forwards.get(PATIENCE.toSeconds(), TimeUnit.SECONDS));
        all.addAll(backwards.get(PATIENCE.toSeconds(), TimeUnit.SECONDS));
        assertThat(all).hasSize(ids.size()).doesNotHaveDuplicates();
    }

    @Test
    void whateverThreadsDoEachMessageIsClaimedExactlyOnce() throws Exception {
        List<String> ids = IntStream.range(0, 40).mapToObj(i -> "message-" + i).toList();
        Queue<MessageId> committed = new ConcurrentLinkedQueue<>();
        List<Future<?>> consumers = new ArrayList<>();
        for (int thread = 0; thread < 8; thread++) {
            Random random = new Random(thread);
            consumers.add(this.threads.submit(() -> consumeAll(ids, random, committed)));
        }
        for (Future<?> consumer : consumers) {
            consumer.get(2 * PATIENCE.toSeconds(), TimeUnit.SECONDS);
        }
        assertThat(committed).doesNotHaveDuplicates().hasSize(ids.size());
    }

    /** Processes all ids in random portions and order, with random rollbacks. */
    private void consumeAll(List<String> ids, Random random, Queue<MessageId> committed) {
        List<String> remaining = new ArrayList<>(ids);
        while (!remaining.isEmpty()) {
            Collections.shuffle(remaining, random);
            List<String> portion = List.copyOf(remaining.subList(0, 1 + random.nextInt(Math.min(6, remaining.size()))));
            boolean rollback = random.nextInt(3) == 0;
            Set<MessageId> claimed;
            try {
                claimed = this.transaction.execute(status -> {
                    if (rollback) {
                        status.setRollbackOnly();
                    }
                    return this.store.claim(claims(portion.toArray(String[]::new)));
                });
            } catch (DataAccessException | ClaimTimeoutException ex) {
                // A deadlock or a lock timeout: the message would be redelivered.
                continue;
            }
            if (!rollback) {
                committed.addAll(claimed);
                remaining.removeAll(portion);
            }
        }
    }

    private MessageId id(String value) {
        return new MessageId(this.consumer, value);
    }

    private String digest(String key) {
        return MessageId.of(this.consumer, key).value();
    }

    private List<Claim> claims(String... values) {
        return Arrays.stream(values)
                .map(value -> new Claim(id(value), SOMEWHERE))
                .toList();
    }

    private Set<MessageId> claim(String... values) {
        return inTransaction(() -> this.store.claim(claims(values)));
    }

    private ClaimAnswer claimOrFind(String... values) {
        return inTransaction(() -> this.store.claimOrFind(claims(values)));
    }

    private <T> T inTransaction(Supplier<T> work) {
        return this.transaction.execute(status -> work.get());
    }

    private static void await(CountDownLatch latch) {
        try {
            assertThat(latch.await(PATIENCE.toSeconds(), TimeUnit.SECONDS)).isTrue();
        } catch (InterruptedException ex) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(ex);
        }
    }
}
