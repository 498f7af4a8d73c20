package dev.idempotency.internal.store;

import static dev.idempotency.app.Thrown.assertThrown;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import com.zaxxer.hikari.HikariDataSource;
import dev.idempotency.Claim;
import dev.idempotency.ClaimTimeoutException;
import dev.idempotency.MessageId;
import dev.idempotency.RecordCoordinates;
import dev.idempotency.UnprotectedCallException;
import dev.idempotency.event.Duplicate;
import dev.idempotency.internal.database.EntityVersion;
import dev.idempotency.internal.database.EpochSeconds;
import dev.idempotency.internal.database.IdempotencyDatabase;
import dev.idempotency.internal.database.PositionClaim;
import dev.idempotency.internal.database.Schema;
import dev.idempotency.internal.database.SchemaMode;
import dev.idempotency.internal.database.VersionClaim;
import dev.idempotency.internal.dedup.ClaimResult;
import dev.idempotency.internal.dedup.InboundMessage;
import dev.idempotency.internal.dedup.MessageIdStrategy;
import dev.idempotency.store.ClaimAnswer;
import dev.idempotency.store.ProcessedMessage;
import dev.idempotency.store.ProcessedMessageStore;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.dao.DataIntegrityViolationException;
import org.springframework.dao.QueryTimeoutException;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.ConnectionHolder;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.transaction.support.TransactionTemplate;

/** What the JDBC store has beyond the contract of stores, on the real database of every dialect. */
class JdbcStoreIT extends StoreTest {

    private static final RecordCoordinates SOMEWHERE = new RecordCoordinates("topic", 3, 42);

    private ProcessedMessageStore store;

    @BeforeEach
    void prepare() {
        this.store = new JdbcProcessedMessageStore(this.database, PATIENCE);
    }

    /** As in a transaction per poll, in which listeners have read before the next message is claimed. */
    @Test
    void theOriginalIsFoundThatOthersHaveCommittedSinceTheTransactionFirstRead() {
        MessageIdStrategy strategy = new MessageIdStrategy(this.store);
        InboundMessage reused = new InboundMessage(
                0, new ConsumerRecord<>("topic", 3, 43, null, "payload"), id("a"), SOMEWHERE, 2L, null, null);
        ClaimResult answer = this.transaction.execute(status -> {
            this.jdbc.queryForList("select id from effect");
            assertThat(elsewhere(() -> this.store.claim(List.of(new Claim(id("a"), SOMEWHERE, 1L)))))
                    .containsExactly(id("a"));
            return strategy.claim(List.of(reused));
        });
        assertThat(answer.duplicates()).extracting(Duplicate::processedAt).doesNotContainNull();
    }

    private <T> T elsewhere(Supplier<T> work) {
        return CompletableFuture.supplyAsync(() -> this.transaction.execute(status -> work.get()))
                .join();
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

    /** A copy of an earlier record that comes later does not count. */
    @Test
    void theFirstRecordOfEachPartitionIsTheOneThatWasProcessedFirst() {
        RecordCoordinates first = new RecordCoordinates("topic", 0, 10);
        RecordCoordinates ofAnother = new RecordCoordinates("topic", 1, 20);
        claimOrFind(List.of(new Claim(id("a"), first), new Claim(id("b"), ofAnother)));
        claimOrFind(List.of(new Claim(id("c"), new RecordCoordinates("topic", 0, 11))));
        claimOrFind(List.of(new Claim(id("d"), new RecordCoordinates("topic", 0, 3))));
        assertThat(this.store.firstRecords("consumer")).containsExactlyInAnyOrder(first, ofAnother);
        assertThat(this.store.firstRecords("nobody")).isEmpty();
        assertThat(this.store.hasProcessed("nobody")).isFalse();
    }

    @Test
    void aTransactionWithoutClaimsIsWatchedToo() {
        this.transaction.executeWithoutResult(status -> {
            BooleanSupplier held = this.store.watchTransaction();
            this.jdbc.update("insert into effect (id) values ('without a claim')");
            assertThat(held.getAsBoolean()).isTrue();
        });
        this.transaction.executeWithoutResult(status -> {
            this.jdbc.update("insert into effect (id) values ('undone')");
            BooleanSupplier held = this.store.watchTransaction();
            giveUpTransaction();
            assertThat(held.getAsBoolean()).isFalse();
            status.setRollbackOnly();
        });
    }

    /** Has the database undo the transaction by itself; as here, MariaDB and H2 do with a deadlock. */
    private void giveUpTransaction() {
        if (this.server == StoreServer.POSTGRES) {
            assertThrown(
                    DataIntegrityViolationException.class,
                    () -> this.jdbc.execute("insert into effect (id) values (null)"));
        } else {
            this.jdbc.execute("rollback");
        }
    }

    @Test
    void theDatabaseEstimatesTheNumberOfMessages() {
        claim(IntStream.range(0, 1000).mapToObj(String::valueOf).toArray(String[]::new));
        // What a connection has counted itself may come to the estimate after an analysis, and then be in it twice.
        Awaitility.await().atMost(Duration.ofSeconds(60)).untilAsserted(() -> {
            this.jdbc.execute((this.server == StoreServer.MARIADB) ? "analyze table idempotency_processed" : "analyze");
            assertThat(this.store.statistics(Set.of()).rows()).isBetween(800L, 1200L);
        });
    }

    /** As Hibernate's users have them. In a transaction of anything else, Spring binds a connection that is merely used. */
    @Test
    void connectionsThatDoNotCommitByThemselvesAreNotTakenForATransaction() {
        claim("a");
        try (HikariDataSource manual = new HikariDataSource()) {
            manual.setJdbcUrl(this.dataSource.getJdbcUrl());
            manual.setAutoCommit(false);
            JdbcProcessedMessageStore other = new JdbcProcessedMessageStore(StoreServer.databaseOf(manual), PATIENCE);
            new TransactionTemplate(new DataSourceTransactionManager(new DriverManagerDataSource("jdbc:h2:mem:")))
                    .executeWithoutResult(status -> {
                        new JdbcTemplate(manual).queryForList("select id from effect");
                        assertThrown(UnprotectedCallException.class, () -> other.claim(claims("b")));
                        assertThat(other.forget(id("a"))).isTrue();
                    });
            assertThat(this.store.find(List.of(id("a"), id("b")))).isEmpty();
        }
    }

    @Test
    void timesAreInstantsWhateverTheTimeZones() {
        Instant before = Instant.now();
        claim("old", "new");
        ProcessedMessage found = this.store.find(List.of(id("new"))).get(id("new"));
        assertThat(found.processedAt()).isBetween(before.minusSeconds(60), before.plusSeconds(60));
        assertThat(found.age()).isPositive().isLessThan(Duration.ofSeconds(60));
        this.jdbc.update(
                "update idempotency_processed set processed_at = %s where message_id = 'old'"
                        .formatted(this.database.dialect().timeOfSeconds()),
                EpochSeconds.toDecimal(Instant.now().minus(Duration.ofHours(3))));
        Map<String, Duration> ages =
                this.store.statistics(List.of("consumer", "nobody")).oldestAges();
        assertThat(ages).containsOnlyKeys("consumer");
        assertThat(ages.get("consumer")).isBetween(Duration.ofMinutes(170), Duration.ofMinutes(190));
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
    void aClaimOnAConnectionThatCommitsByItselfIsRefusedAndWritesNothing() throws SQLException {
        try (Connection connection = this.dataSource.getConnection()) {
            TransactionSynchronizationManager.bindResource(this.dataSource, new ConnectionHolder(connection));
            TransactionSynchronizationManager.setActualTransactionActive(true);
            assertThrown(
                    UnprotectedCallException.class,
                    () -> this.store.claim(claims("a")),
                    "its connection commits by itself");
        } finally {
            TransactionSynchronizationManager.setActualTransactionActive(false);
            TransactionSynchronizationManager.unbindResource(this.dataSource);
        }
        assertThat(claim("a")).hasSize(1);
    }

    @ParameterizedTest
    @ValueSource(strings = {"claim timeout", "transaction timeout", "lock timeout"})
    void aWaitThatTakesTooLongSaysSo(String limit) {
        Assumptions.assumeTrue(this.server == StoreServer.POSTGRES || !limit.equals("lock timeout"));
        TransactionTemplate brief = new TransactionTemplate(new DataSourceTransactionManager(this.dataSource));
        brief.setTimeout(limit.equals("transaction timeout") ? 1 : -1);
        Duration timeout = Duration.ofSeconds(limit.equals("claim timeout") ? 1 : 30);
        ProcessedMessageStore second = new JdbcProcessedMessageStore(this.database, timeout);
        this.transaction.executeWithoutResult(status -> {
            this.store.claim(claims("a"));
            Future<?> waiting = this.threads.submit(() -> brief.executeWithoutResult(other -> {
                if (limit.equals("lock timeout")) {
                    this.jdbc.execute("set local lock_timeout = '200ms'");
                }
                second.claim(claims("a"));
            }));
            assertThat(catchThrowableOfType(ExecutionException.class, () -> waiting.get(30, TimeUnit.SECONDS)))
                    .cause()
                    .isInstanceOf(ClaimTimeoutException.class)
                    .hasMessageContainingAll(
                            "consumer:a",
                            "topic-3@42",
                            "idempotency.claim.timeout (" + timeout + ")",
                            "lock and statement");
        });
    }

    @Test
    void nobodyWhoLooksSomethingUpWaitsForALockedTable() throws Exception {
        Assumptions.assumeTrue(this.server == StoreServer.POSTGRES);
        MessageId id = new MessageId("consumer", "locked");
        try (Connection other = DriverManager.getConnection(this.dataSource.getJdbcUrl());
                Statement statement = other.createStatement()) {
            other.setAutoCommit(false);
            statement.execute("lock table idempotency_processed in access exclusive mode");
            List<CompletableFuture<?>> lookUps = List.of(
                    CompletableFuture.supplyAsync(() -> this.store.find(List.of(id))),
                    CompletableFuture.supplyAsync(() -> this.store.forget(id)),
                    CompletableFuture.supplyAsync(() -> this.store.hasProcessed("consumer")),
                    CompletableFuture.supplyAsync(() -> this.store.statistics(List.of("consumer"))));
            for (CompletableFuture<?> lookUp : lookUps) {
                assertThat(lookUp)
                        .failsWithin(Duration.ofSeconds(30))
                        .withThrowableOfType(ExecutionException.class)
                        .withCauseInstanceOf(QueryTimeoutException.class);
            }
            other.rollback();
        }
    }

    /** Settings that change how PostgreSQL's driver sends statements, as poolers ask for them. */
    @ParameterizedTest
    @ValueSource(
            strings = {"preferQueryMode=simple", "stringtype=unspecified", "prepareThreshold=0", "autosave=always"})
    void severalAreClaimedAtOnceByIdByOffsetAndByVersionHoweverTheDriverIsSet(String setting) {
        Assumptions.assumeTrue(this.server == StoreServer.POSTGRES);
        String url = this.server.emptyDatabase();
        DriverManagerDataSource other = new DriverManagerDataSource(url + (url.contains("?") ? "&" : "?") + setting);
        IdempotencyDatabase tables = StoreServer.tablesIn(other);
        TransactionTemplate inOther = new TransactionTemplate(new DataSourceTransactionManager(other));
        JdbcProcessedMessageStore messages = new JdbcProcessedMessageStore(tables, PATIENCE);
        List<Claim> claims = Stream.of("a", "b", "c")
                .map(value -> new Claim(id(value), SOMEWHERE, 7L))
                .toList();
        assertThat(inOther.<Set<MessageId>>execute(status -> messages.claim(claims.subList(0, 2))))
                .containsExactlyInAnyOrder(id("a"), id("b"));
        ClaimAnswer answer = inOther.execute(status -> messages.claimOrFind(claims));
        assertThat(answer.claimed()).containsExactly(id("c"));
        assertThat(answer.originals()).containsOnlyKeys(id("a"), id("b"));
        JdbcPositionStore positions = new JdbcPositionStore(tables, PATIENCE);
        List<PositionClaim> moves = List.of(PositionStoreIT.claim(0, 5, 9), PositionStoreIT.claim(1, 0, 1));
        assertThat(inOther.<Map<PositionClaim, Long>>execute(status -> positions.move(moves)))
                .containsOnly(Map.entry(moves.get(0), 5L), Map.entry(moves.get(1), 0L));
        JdbcVersionStore versions = new JdbcVersionStore(tables, PATIENCE);
        List<VersionClaim> newer = claims.stream()
                .map(claim -> new VersionClaim(claim.id(), EntityVersion.of(1), SOMEWHERE))
                .toList();
        JdbcVersionStore.Answer moved = inOther.execute(status -> versions.move(newer));
        assertThat(moved.moved()).containsOnlyKeys(id("a"), id("b"), id("c"));
    }

    @Test
    void aTableThatWasMadeByHandAndTakesDifferentIdsForEqualIsRefused() {
        Assumptions.assumeTrue(this.server == StoreServer.MARIADB);
        IdempotencyDatabase made = StoreServer.tablesIn(new DriverManagerDataSource(this.server.emptyDatabase()));
        for (String type : List.of(
                "varchar(255) character set utf8mb4 collate utf8mb4_general_ci",
                "varchar(255) character set utf8mb4 collate utf8mb4_bin",
                "varchar(200) character set utf8mb4 collate utf8mb4_nopad_bin")) {
            made.jdbc().execute("alter table idempotency_processed modify message_id " + type + " not null");
            assertThatIllegalStateException()
                    .as(type)
                    .isThrownBy(new Schema(made, SchemaMode.VALIDATE)::afterPropertiesSet)
                    .withMessageContaining("idempotency_processed takes ids of messages for equal that are not");
        }
    }
}
