package dev.idempotency.internal.store;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.Claim;
import dev.idempotency.MessageId;
import dev.idempotency.RecordCoordinates;
import dev.idempotency.internal.database.EntityVersion;
import dev.idempotency.internal.database.IdempotencyDatabase;
import dev.idempotency.internal.database.PositionClaim;
import dev.idempotency.internal.database.VersionClaim;
import dev.idempotency.store.ClaimAnswer;
import dev.idempotency.testing.TestDatabase;
import dev.idempotency.testing.TestPostgres;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

/** Settings of PostgreSQL's driver that change how it sends statements, as poolers ask for them. */
class PostgresDriverSettingsIT {

    private static final TestDatabase DATABASE = TestPostgres.createDatabase();
    private static final RecordCoordinates SOMEWHERE = new RecordCoordinates("topic", 3, 42);
    private static final Duration PATIENCE = Duration.ofSeconds(30);

    @AfterAll
    static void dropDatabase() {
        DATABASE.close();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"preferQueryMode=simple", "stringtype=unspecified", "prepareThreshold=0", "autosave=always"})
    void severalAreClaimedAtOnceByIdByOffsetAndByVersion(String setting) {
        DriverManagerDataSource dataSource = new DriverManagerDataSource(
                DATABASE.jdbcUrl() + (DATABASE.jdbcUrl().contains("?") ? "&" : "?") + setting);
        IdempotencyDatabase database = StoreServer.tablesIn(dataSource);
        TransactionTemplate transaction = new TransactionTemplate(new JdbcTransactionManager(dataSource));
        List<MessageId> ids = Stream.of("a", "b", "c")
                .map(value -> new MessageId(setting, value))
                .toList();
        JdbcProcessedMessageStore messages = new JdbcProcessedMessageStore(database, PATIENCE);
        JdbcPositionStore positions = new JdbcPositionStore(database, PATIENCE);
        JdbcVersionStore versions = new JdbcVersionStore(database, PATIENCE);
        List<Claim> claims =
                ids.stream().map(id -> new Claim(id, SOMEWHERE, 7L)).toList();
        assertThat(transaction.<Set<MessageId>>execute(status -> messages.claim(claims.subList(0, 2))))
                .containsExactlyInAnyOrderElementsOf(ids.subList(0, 2));
        ClaimAnswer answer = transaction.execute(status -> messages.claimOrFind(claims));
        assertThat(answer.claimed()).containsExactly(ids.get(2));
        assertThat(answer.originals()).containsOnlyKeys(ids.get(0), ids.get(1));
        List<PositionClaim> moves = List.of(
                new PositionClaim(setting, "topic", 0, "id", 5, 9), new PositionClaim(setting, "topic", 1, "id", 0, 1));
        assertThat(transaction.<Map<PositionClaim, Long>>execute(status -> positions.move(moves)))
                .containsOnly(Map.entry(moves.get(0), 5L), Map.entry(moves.get(1), 0L));
        List<VersionClaim> newer = ids.stream()
                .map(id -> new VersionClaim(id, EntityVersion.of(1), SOMEWHERE))
                .toList();
        assertThat(transaction
                        .<JdbcVersionStore.Answer>execute(status -> versions.move(newer))
                        .moved())
                .containsOnlyKeys(ids);
    }
}
