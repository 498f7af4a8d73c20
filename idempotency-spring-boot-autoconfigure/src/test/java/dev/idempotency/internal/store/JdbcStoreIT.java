package dev.idempotency.internal.store;

import static dev.idempotency.app.Thrown.assertThrown;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import com.zaxxer.hikari.HikariDataSource;
import dev.idempotency.Claim;
import dev.idempotency.ClaimTimeoutException;
import dev.idempotency.MessageId;
import dev.idempotency.RecordCoordinates;
import dev.idempotency.UnprotectedCallException;
import dev.idempotency.internal.database.EntityVersion;
import dev.idempotency.internal.database.EpochSeconds;
import dev.idempotency.internal.database.IdempotencyDatabase;
import dev.idempotency.internal.database.PositionClaim;
import dev.idempotency.internal.database.Schema;
import dev.idempotency.internal.database.SchemaMode;
import dev.idempotency.internal.database.VersionClaim;
import dev.idempotency.store.ClaimAnswer;
import dev.idempotency.store.ProcessedMessage;
import dev.idempotency.store.ProcessedMessageStore;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.dao.QueryTimeoutException;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.ConnectionHolder;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.transaction.support.TransactionTemplate;

/** Behavior of the JDBC store beyond the contract of stores, on the real database of every dialect. */
class JdbcStoreIT extends StoreTest {

    private static final RecordCoordinates SOMEWHERE = new RecordCoordinates("topic", 3, 42);

    private ProcessedMessageStore store;

    @BeforeEach
    void prepare() {
        this.store = new JdbcProcessedMessageStore(this.database, PATIENCE);
    }

    private static MessageId id(String value) {
        return new MessageId("consumer", value);
    }

    private static List<Claim> claims(String... values) {
        return Stream.of(values).map(value -> new Claim(id(value), SOMEWHERE)).toList();
    }

    private Set<MessageId> claim(String... values) {
        return claim(claims(values));
    }

    private Set<MessageId> claim(List<Claim> claims) {
        return this.transaction.execute(status -> this.store.claim(claims));
    }

    /** A record that is processed later does not count, even if its offset is lower. */
    @Test
    void theFirstRecordOfEachPartitionIsTheOneThatWasProcessedFirst() {
        RecordCoordinates first = new RecordCoordinates("topic", 0, 10);
        RecordCoordinates ofAnother = new RecordCoordinates("topic", 1, 20);
        claim(List.of(new Claim(id("a"), first), new Claim(id("b"), ofAnother)));
        claim(List.of(new Claim(id("c"), new RecordCoordinates("topic", 0, 11))));
        claim(List.of(new Claim(id("d"), new RecordCoordinates("topic", 0, 3))));
        assertThat(this.store.firstRecords("consumer")).containsExactlyInAnyOrder(first, ofAnother);
        assertThat(this.store.firstRecords("nobody")).isEmpty();
        assertThat(this.store.hasProcessed("nobody")).isFalse();
    }

    @Test
    void theDatabaseEstimatesTheNumberOfMessages() {
        claim(IntStream.range(0, 1000).mapToObj(String::valueOf).toArray(String[]::new));
        // A connection may report its inserts after an analysis, and then they count twice.
        Awaitility.await().atMost(Duration.ofSeconds(60)).untilAsserted(() -> {
            this.jdbc.execute((this.server == StoreServer.MARIADB) ? "analyze table idempotency_processed" : "analyze");
            assertThat(this.store.statistics(Set.of()).rows()).isBetween(800L, 1200L);
        });
    }

    /** Common with Hibernate. In a transaction of another resource, Spring also binds a connection that is merely used. */
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
            Future<?> waiting = CompletableFuture.runAsync(() -> brief.executeWithoutResult(other -> {
                if (limit.equals("lock timeout")) {
                    this.jdbc.execute("set local lock_timeout = '200ms'");
                }
                second.claim(claims("a"));
            }));
            assertThat(waiting)
                    .failsWithin(PATIENCE)
                    .withThrowableOfType(ExecutionException.class)
                    .havingCause()
                    .isInstanceOf(ClaimTimeoutException.class)
                    .withMessageContainingAll(
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
            assertThat(lookUps).allSatisfy(lookUp -> assertThat(lookUp)
                    .failsWithin(Duration.ofSeconds(30))
                    .withThrowableOfType(ExecutionException.class)
                    .withCauseInstanceOf(QueryTimeoutException.class));
            other.rollback();
        }
    }

    /** Settings that change how PostgreSQL's driver sends statements, as poolers require. */
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
