package dev.idempotency.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import com.zaxxer.hikari.HikariDataSource;
import dev.idempotency.Claim;
import dev.idempotency.ClaimTimeoutException;
import dev.idempotency.MessageId;
import dev.idempotency.RecordCoordinates;
import dev.idempotency.UnprotectedListenerException;
import dev.idempotency.database.Dialect;
import dev.idempotency.database.DialectResolver;
import dev.idempotency.database.EpochSeconds;
import dev.idempotency.database.IdempotencyDatabase;
import dev.idempotency.database.Schema;
import dev.idempotency.database.SchemaMode;
import dev.idempotency.observe.Duplicate;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import javax.sql.DataSource;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.dao.DataAccessException;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.ConnectionHolder;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.transaction.support.TransactionTemplate;

/** What every dialect promises, on its real database. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
abstract class AbstractProcessedMessageStoreIT {

    private static final RecordCoordinates SOMEWHERE = new RecordCoordinates("topic", 3, 42);

    private HikariDataSource dataSource;
    private JdbcTemplate jdbc;
    private TransactionTemplate transaction;
    private ProcessedMessageStore store;
    private ExecutorService threads;

    /** The URL of an empty database. */
    abstract String jdbcUrl();

    /** The statement that has the database look at how much the table holds, as it does by itself now and then. */
    abstract String analyze();

    /** The dialect of the database. */
    Dialect dialect(DataSource dataSource) {
        return DialectResolver.resolve(dataSource);
    }

    private IdempotencyDatabase database(DataSource dataSource) {
        return new IdempotencyDatabase(dataSource, dialect(dataSource), null);
    }

    @BeforeAll
    void createSchema() {
        this.dataSource = new HikariDataSource();
        this.dataSource.setJdbcUrl(jdbcUrl());
        this.dataSource.setMaximumPoolSize(20);
        this.jdbc = new JdbcTemplate(this.dataSource);
        this.transaction = new TransactionTemplate(new DataSourceTransactionManager(this.dataSource));
        this.threads = Executors.newCachedThreadPool();
        new Schema(database(this.dataSource), SchemaMode.MIGRATE).afterPropertiesSet();
        new Schema(database(this.dataSource), SchemaMode.VALIDATE).afterPropertiesSet();
        this.store = new JdbcProcessedMessageStore(database(this.dataSource), Duration.ofSeconds(30));
        this.jdbc.execute("create table effect (id varchar(100) not null)");
    }

    @AfterAll
    void close() {
        if (this.threads != null) {
            this.threads.shutdownNow();
        }
        if (this.dataSource != null) {
            this.dataSource.close();
        }
    }

    @BeforeEach
    void empty() {
        this.jdbc.update("delete from idempotency_processed");
        this.jdbc.update("delete from effect");
    }

    /** As in a transaction per poll, in which listeners have read before the next message is claimed. */
    @Test
    void theOriginalIsFoundThatOthersHaveCommittedSinceTheTransactionFirstRead() {
        MessageIdStrategy strategy = new MessageIdStrategy("consumer", this.store);
        Candidate reused =
                new Candidate(0, new ConsumerRecord<>("topic", 3, 43, null, "payload"), id("a"), SOMEWHERE, 2L);
        Admission answer = this.transaction.execute(status -> {
            this.jdbc.queryForList("select id from effect");
            assertThat(elsewhere(() -> this.store.claim(List.of(new Claim(id("a"), SOMEWHERE, 1L)))))
                    .containsExactly(id("a"));
            return strategy.admit(List.of(reused));
        });
        assertThat(answer.duplicates()).extracting(Duplicate::processedAt).doesNotContainNull();
    }

    private <T> T elsewhere(Supplier<T> work) {
        try {
            return this.threads
                    .submit(() -> this.transaction.execute(status -> work.get()))
                    .get();
        } catch (Exception ex) {
            throw new IllegalStateException(ex);
        }
    }

    private static MessageId id(String value) {
        return new MessageId("consumer", value);
    }

    private static List<Claim> claims(String... values) {
        return Arrays.stream(values)
                .map(value -> new Claim(id(value), SOMEWHERE))
                .toList();
    }

    private Set<MessageId> claim(String... values) {
        return this.transaction.execute(status -> this.store.claim(claims(values)));
    }

    @Test
    void aFreeMessageIsClaimedAndATakenOneIsNot() {
        assertThat(claim("a")).containsExactly(id("a"));
        assertThat(claim("a")).isEmpty();
        assertThat(claim("b")).containsExactly(id("b"));
    }

    @Test
    void aMessageThatTheSameTransactionHasClaimedIsTaken() {
        this.transaction.executeWithoutResult(status -> {
            assertThat(this.store.claim(claims("a"))).hasSize(1);
            assertThat(this.store.claim(claims("a"))).isEmpty();
            assertThat(this.store.find(Set.of(id("a")))).containsOnlyKeys(id("a"));
            assertThat(this.store.claim(claims("b"))).hasSize(1);
            assertThat(this.store.holds(id("a"))).isTrue();
        });
        assertThat(claim("a", "b", "c")).containsExactly(id("c"));
    }

    @Test
    void itIsKnownWhetherAConsumerHasProcessedAnything() {
        assertThat(this.store.hasProcessed("consumer")).isFalse();
        claim("b", "a");
        assertThat(this.store.hasProcessed("consumer")).isTrue();
        assertThat(this.store.hasProcessed("another")).isFalse();
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
    void ofManyMessagesExactlyTheFreeOnesAreClaimed() {
        claim("b", "d");
        assertThat(claim("e", "d", "c", "b", "a")).containsExactlyInAnyOrder(id("a"), id("c"), id("e"));
    }

    @Test
    void aDuplicateLeavesTheTransactionUsable() {
        claim("a");
        this.transaction.executeWithoutResult(status -> {
            assertThat(this.store.claim(claims("a"))).isEmpty();
            this.jdbc.update("insert into effect (id) values ('still works')");
        });
        assertThat(this.jdbc.queryForObject("select count(*) from effect", Integer.class))
                .isOne();
    }

    @Test
    void aTransactionWithoutClaimsIsWatchedAndNothingIsLeftOfThat() {
        this.transaction.executeWithoutResult(status -> {
            BooleanSupplier held = this.store.watchTransaction("consumer");
            this.jdbc.update("insert into effect (id) values ('without a claim')");
            assertThat(held.getAsBoolean()).isTrue();
        });
        assertThat(this.jdbc.queryForObject("select count(*) from idempotency_processed", Integer.class))
                .isZero();
    }

    @Test
    void aTransactionWithoutClaimsThatTheDatabaseHasGivenUpIsNotHeld() {
        this.transaction.executeWithoutResult(status -> {
            BooleanSupplier held = this.store.watchTransaction("consumer");
            giveUpTransaction(this.jdbc);
            assertThat(held.getAsBoolean()).isFalse();
            status.setRollbackOnly();
        });
    }

    /** Has the database undo the transaction by itself; as here, MariaDB and H2 do with a deadlock. */
    void giveUpTransaction(JdbcTemplate jdbc) {
        jdbc.execute("rollback");
    }

    @Test
    void theDatabaseEstimatesTheNumberOfMessages() {
        claim(IntStream.range(0, 1000).mapToObj(String::valueOf).toArray(String[]::new));
        // What a connection has counted itself may come to the estimate after an analysis, and then be in it twice.
        Awaitility.await().atMost(Duration.ofSeconds(60)).untilAsserted(() -> {
            this.jdbc.execute(analyze());
            assertThat(this.store.statistics(Set.of()).rows()).isBetween(800L, 1200L);
        });
    }

    @Test
    void theTimeOfAMessageIsTheInstantThatItIsWhateverTheTimeZones() {
        Instant before = Instant.now();
        claim("a");
        MessageId id = new MessageId("consumer", "a");
        ProcessedMessage found = this.store.find(List.of(id)).get(id);
        assertThat(found.processedAt()).isBetween(before.minusSeconds(60), before.plusSeconds(60));
        assertThat(found.age()).isPositive().isLessThan(Duration.ofSeconds(60));
    }

    @Test
    void aMessageIsForgottenForGoodThroughAPoolWhoseConnectionsDoNotCommitByThemselves() {
        claim("a");
        MessageId id = new MessageId("consumer", "a");
        try (HikariDataSource manual = new HikariDataSource()) {
            manual.setJdbcUrl(this.dataSource.getJdbcUrl());
            manual.setAutoCommit(false);
            JdbcProcessedMessageStore other = new JdbcProcessedMessageStore(database(manual), Duration.ofSeconds(30));
            assertThat(other.forget(id)).isTrue();
            assertThat(this.store.find(List.of(id))).isEmpty();
        }
    }

    @Test
    void theOldestMessageOfAConsumerHasAnAge() {
        claim("old", "new");
        this.jdbc.update(
                "update idempotency_processed set processed_at = %s where message_id = 'old'"
                        .formatted(dialect(this.dataSource).timeOfSeconds()),
                EpochSeconds.toDecimal(Instant.now().minus(Duration.ofHours(3))));
        Map<String, Duration> ages =
                this.store.statistics(List.of("consumer", "nobody")).oldestAges();
        assertThat(ages).containsOnlyKeys("consumer");
        assertThat(ages.get("consumer")).isBetween(Duration.ofMinutes(170), Duration.ofMinutes(190));
    }

    @Test
    void consumersDoNotSeeEachOthersMessages() {
        claim("a");
        Claim other = new Claim(new MessageId("other", "a"), SOMEWHERE);
        Set<MessageId> claimed = this.transaction.execute(status -> this.store.claim(List.of(other)));
        assertThat(claimed).containsExactly(other.id());
    }

    @Test
    void idsThatAreAlmostEqualAreDifferent() {
        assertThat(claim("a", "A", "a ", " a", "ä", "a\u0308", "ａ")).hasSize(7);
        assertThat(claim("a")).isEmpty();
        assertThat(claim("a  ")).hasSize(1);
    }

    @Test
    void theLongestIdsFitInAnyScript() {
        String longest = "漢".repeat(MessageId.MAX_VALUE_LENGTH);
        String emoji = "😀".repeat(MessageId.MAX_VALUE_LENGTH / 2);
        assertThat(claim(longest, emoji)).containsExactlyInAnyOrder(id(longest), id(emoji));
        assertThat(this.store.find(List.of(id(longest), id(emoji)))).hasSize(2);
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
        assertThat(found.get(id("a")).coordinates()).isEqualTo(SOMEWHERE);
        assertThat(found.get(id("a")).age()).isBetween(Duration.ZERO, Duration.ofMinutes(1));
    }

    @Test
    void aClaimIsAnsweredWithTheOriginalsOfThoseThatWereNotFree() {
        claim("b", "d");
        ClaimAnswer one = claimOrFind(claims("a"));
        assertThat(one.claimed()).containsExactly(id("a"));
        assertThat(one.originals()).isEmpty();
        ClaimAnswer taken = claimOrFind(claims("a"));
        assertThat(taken.claimed()).isEmpty();
        assertThat(taken.originals()).containsOnlyKeys(id("a"));
        assertThat(taken.originals().get(id("a")).coordinates()).isEqualTo(SOMEWHERE);
        assertThat(taken.originals().get(id("a")).age()).isBetween(Duration.ZERO, Duration.ofMinutes(1));
        ClaimAnswer many = claimOrFind(claims("e", "d", "c", "b", "a"));
        assertThat(many.claimed()).containsExactlyInAnyOrder(id("c"), id("e"));
        assertThat(many.originals()).containsOnlyKeys(id("a"), id("b"), id("d"));
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 3})
    void whatAnotherHasCommittedWhileAClaimWaitedIsNotClaimedAndItsOriginalIsFound(int size) throws Exception {
        String[] ids = IntStream.range(0, size).mapToObj(i -> "waited-" + i).toArray(String[]::new);
        ClaimAnswer answer = answerWhileFirstIsOpen(ids, false);
        assertThat(answer.claimed()).doesNotContain(id("waited-0")).hasSize(size - 1);
        assertThat(answer.originals()).containsOnlyKeys(id("waited-0"));
        assertThat(answer.originals().get(id("waited-0")).coordinates()).isEqualTo(SOMEWHERE);
        assertThat(answerWhileFirstIsOpen(new String[] {"undone"}, true).claimed())
                .containsExactly(id("undone"));
    }

    /** What claims are answered with of which another transaction holds the first, until it ends. */
    private ClaimAnswer answerWhileFirstIsOpen(String[] ids, boolean firstRollsBack) throws Exception {
        CountDownLatch claimed = new CountDownLatch(1);
        CountDownLatch mayEnd = new CountDownLatch(1);
        Future<?> first = this.threads.submit(() -> this.transaction.executeWithoutResult(status -> {
            this.store.claim(claims(ids[0]));
            claimed.countDown();
            await(mayEnd);
            if (firstRollsBack) {
                status.setRollbackOnly();
            }
        }));
        await(claimed);
        Future<ClaimAnswer> second = this.threads.submit(() -> claimOrFind(claims(ids)));
        assertThatExceptionOfType(java.util.concurrent.TimeoutException.class)
                .isThrownBy(() -> second.get(200, TimeUnit.MILLISECONDS));
        mayEnd.countDown();
        first.get(30, TimeUnit.SECONDS);
        return second.get(30, TimeUnit.SECONDS);
    }

    private ClaimAnswer claimOrFind(List<Claim> claims) {
        return this.transaction.execute(status -> this.store.claimOrFind(claims));
    }

    @Test
    void whatAClaimSaysOfAPayloadIsKeptWithIt() {
        Claim first = new Claim(id("a"), SOMEWHERE, 42L);
        Claim second = new Claim(id("b"), SOMEWHERE, -1L);
        List<Claim> all = List.of(first, second, new Claim(id("c"), SOMEWHERE));
        this.transaction.executeWithoutResult(status -> this.store.claim(List.of(first)));
        this.transaction.executeWithoutResult(status -> this.store.claim(all));
        for (Map<MessageId, ProcessedMessage> found : List.of(
                this.store.find(List.of(id("a"), id("b"), id("c"))),
                claimOrFind(all).originals())) {
            assertThat(found.get(id("a")).payloadDigest()).isEqualTo(42L);
            assertThat(found.get(id("b")).payloadDigest()).isEqualTo(-1L);
            assertThat(found.get(id("c")).payloadDigest()).isNull();
        }
        assertThat(claimOrFind(List.of(first)).originals().get(id("a")).payloadDigest())
                .isEqualTo(42L);
    }

    @Test
    void aForgottenMessageCanBeClaimedAgain() {
        claim("a");
        assertThat(this.store.forget(id("a"))).isTrue();
        assertThat(this.store.forget(id("a"))).isFalse();
        assertThat(claim("a")).hasSize(1);
    }

    @Test
    void aClaimOutsideATransactionIsRefusedAndWritesNothing() {
        assertThatExceptionOfType(UnprotectedListenerException.class)
                .isThrownBy(() -> this.store.claim(claims("a")))
                .withMessageContaining("transactionManager");
        assertThat(claim("a")).hasSize(1);
    }

    @Test
    void aClaimOnAConnectionThatCommitsByItselfIsRefusedAndWritesNothing() throws SQLException {
        try (Connection connection = this.dataSource.getConnection()) {
            TransactionSynchronizationManager.bindResource(this.dataSource, new ConnectionHolder(connection));
            TransactionSynchronizationManager.setActualTransactionActive(true);
            assertThatExceptionOfType(UnprotectedListenerException.class)
                    .isThrownBy(() -> this.store.claim(claims("a")))
                    .withMessageContaining("its connection commits by itself");
        } finally {
            TransactionSynchronizationManager.setActualTransactionActive(false);
            TransactionSynchronizationManager.unbindResource(this.dataSource);
        }
        assertThat(claim("a")).hasSize(1);
    }

    @Test
    void theSecondWaitsForTheFirstAndIsADuplicateIfThatCommits() throws Exception {
        assertThat(secondClaimWhileFirstIsOpen(false)).isEmpty();
    }

    @Test
    void theSecondWaitsForTheFirstAndRunsIfThatRollsBack() throws Exception {
        assertThat(secondClaimWhileFirstIsOpen(true)).containsExactly(id("a"));
    }

    private Set<MessageId> secondClaimWhileFirstIsOpen(boolean firstRollsBack) throws Exception {
        CountDownLatch firstHasClaimed = new CountDownLatch(1);
        CountDownLatch firstMayEnd = new CountDownLatch(1);
        Future<?> first = this.threads.submit(() -> this.transaction.executeWithoutResult(status -> {
            this.store.claim(claims("a"));
            firstHasClaimed.countDown();
            await(firstMayEnd);
            if (firstRollsBack) {
                status.setRollbackOnly();
            }
        }));
        await(firstHasClaimed);
        Future<Set<MessageId>> second = this.threads.submit(() -> claim("a"));
        assertThatExceptionOfType(java.util.concurrent.TimeoutException.class)
                .isThrownBy(() -> second.get(300, TimeUnit.MILLISECONDS));
        firstMayEnd.countDown();
        first.get(30, TimeUnit.SECONDS);
        return second.get(30, TimeUnit.SECONDS);
    }

    @Test
    void aWaitThatTakesTooLongEndsWithAClaimTimeoutAndNothingWritten() throws Exception {
        ProcessedMessageStore impatient =
                new JdbcProcessedMessageStore(database(this.dataSource), Duration.ofSeconds(1));
        CountDownLatch claimed = new CountDownLatch(1);
        CountDownLatch mayEnd = new CountDownLatch(1);
        Future<?> first = this.threads.submit(() -> this.transaction.executeWithoutResult(status -> {
            this.store.claim(claims("a"));
            claimed.countDown();
            await(mayEnd);
            status.setRollbackOnly();
        }));
        await(claimed);
        assertThatExceptionOfType(ClaimTimeoutException.class)
                .isThrownBy(() -> this.transaction.executeWithoutResult(status -> impatient.claim(claims("a"))))
                .withMessageContaining("consumer:a")
                .withMessageContaining("topic-3@42")
                .withMessageContaining("idempotency.claim.timeout");
        mayEnd.countDown();
        first.get(30, TimeUnit.SECONDS);
        assertThat(claim("a")).hasSize(1);
    }

    @Test
    void aWaitThatTheTransactionHasNoTimeForSaysSo() throws Exception {
        TransactionTemplate brief = new TransactionTemplate(new DataSourceTransactionManager(this.dataSource));
        brief.setTimeout(1);
        assertThat(timeoutOfSecondClaim(brief, "a", () -> {}))
                .hasMessageContaining("@Transactional(timeout = …)")
                .hasMessageNotContaining("idempotency.claim.timeout");
    }

    /** What a claim of a message fails with that another transaction holds. */
    ClaimTimeoutException timeoutOfSecondClaim(TransactionTemplate transaction, String id, Runnable before)
            throws Exception {
        CountDownLatch claimed = new CountDownLatch(1);
        CountDownLatch mayEnd = new CountDownLatch(1);
        Future<?> first = this.threads.submit(() -> this.transaction.executeWithoutResult(status -> {
            this.store.claim(claims(id));
            claimed.countDown();
            await(mayEnd);
            status.setRollbackOnly();
        }));
        await(claimed);
        try {
            return catchThrowableOfType(
                    ClaimTimeoutException.class,
                    () -> transaction.executeWithoutResult(status -> {
                        before.run();
                        this.store.claim(claims(id));
                    }));
        } finally {
            mayEnd.countDown();
            first.get(30, TimeUnit.SECONDS);
        }
    }

    final JdbcTemplate jdbc() {
        return this.jdbc;
    }

    final TransactionTemplate transaction() {
        return this.transaction;
    }

    final ProcessedMessageStore store() {
        return this.store;
    }

    @Test
    void batchesWithTheSameMessagesInOppositeOrderDoNotDeadlock() throws Exception {
        for (int round = 0; round < 20; round++) {
            String prefix = "round-" + round + "-";
            String[] ids = IntStream.range(0, 100).mapToObj(i -> prefix + i).toArray(String[]::new);
            List<String> reversed = new ArrayList<>(Arrays.asList(ids));
            Collections.reverse(reversed);
            Future<Set<MessageId>> other = this.threads.submit(() -> claim(reversed.toArray(String[]::new)));
            Set<MessageId> claimed = claim(ids);
            assertThat(claimed.size() + other.get(60, TimeUnit.SECONDS).size()).isEqualTo(ids.length);
        }
    }

    @Test
    void whateverThreadsDoEachMessageTakesEffectExactlyOnce() throws Exception {
        List<String> ids = IntStream.range(0, 40).mapToObj(i -> "message-" + i).toList();
        List<Future<?>> consumers = new ArrayList<>();
        for (int thread = 0; thread < 8; thread++) {
            Random random = new Random(thread);
            consumers.add(this.threads.submit(() -> consumeAll(ids, random)));
        }
        for (Future<?> consumer : consumers) {
            consumer.get(120, TimeUnit.SECONDS);
        }
        Map<String, Integer> effects = new HashMap<>();
        this.jdbc.queryForList("select id from effect", String.class).forEach(id -> effects.merge(id, 1, Integer::sum));
        assertThat(effects)
                .hasSize(ids.size())
                .allSatisfy((id, count) -> assertThat(count).as(id).isOne());
    }

    /** Sees to it that every id has been processed, in random portions and order, with random rollbacks. */
    private void consumeAll(List<String> ids, Random random) {
        List<String> remaining = new ArrayList<>(ids);
        while (!remaining.isEmpty()) {
            Collections.shuffle(remaining, random);
            List<String> portion = List.copyOf(remaining.subList(0, 1 + random.nextInt(Math.min(6, remaining.size()))));
            boolean rollback = random.nextInt(3) == 0;
            try {
                this.transaction.executeWithoutResult(status -> {
                    this.store
                            .claim(claims(portion.toArray(String[]::new)))
                            .forEach(id -> this.jdbc.update("insert into effect (id) values (?)", id.value()));
                    if (rollback) {
                        status.setRollbackOnly();
                    }
                });
            } catch (DataAccessException | ClaimTimeoutException ex) {
                // A deadlock's victim, or a lock that took too long: the broker would deliver it again.
                continue;
            }
            if (!rollback) {
                remaining.removeAll(portion);
            }
        }
    }

    private static void await(CountDownLatch latch) {
        try {
            assertThat(latch.await(30, TimeUnit.SECONDS)).isTrue();
        } catch (InterruptedException ex) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(ex);
        }
    }
}
