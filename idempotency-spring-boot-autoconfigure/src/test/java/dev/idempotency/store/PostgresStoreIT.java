package dev.idempotency.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.idempotency.MessageId;
import dev.idempotency.testing.TestDatabase;
import dev.idempotency.testing.TestPostgres;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.dao.DataIntegrityViolationException;
import org.springframework.dao.QueryTimeoutException;
import org.springframework.jdbc.core.JdbcTemplate;

class PostgresStoreIT extends AbstractProcessedMessageStoreIT {

    private final TestDatabase database = TestPostgres.createDatabase();

    @Override
    String jdbcUrl() {
        return this.database.jdbcUrl();
    }

    @Override
    String analyze() {
        return "analyze idempotency_processed";
    }

    @Override
    void giveUpTransaction(JdbcTemplate jdbc) {
        assertThatExceptionOfType(DataIntegrityViolationException.class)
                .isThrownBy(() -> jdbc.execute("insert into effect (id) values (null)"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"statement_timeout", "lock_timeout"})
    void aWaitThatTheDatabaseEndsSaysSo(String limit) throws Exception {
        assertThat(timeoutOfSecondClaim(
                        store(), transaction(), limit, () -> jdbc().execute("set local " + limit + " = '200ms'")))
                .hasMessageContaining("before idempotency.claim.timeout (PT30S)")
                .hasMessageContaining("lock and statement timeouts")
                .hasMessageNotContaining("Raise");
    }

    @Test
    void nobodyWhoLooksSomethingUpWaitsForALockedTable() throws Exception {
        MessageId id = new MessageId("consumer", "locked");
        try (Connection other = DriverManager.getConnection(this.database.jdbcUrl());
                Statement statement = other.createStatement()) {
            other.setAutoCommit(false);
            statement.execute("lock table idempotency_processed in access exclusive mode");
            List<CompletableFuture<?>> lookUps = List.of(
                    CompletableFuture.supplyAsync(() -> store().find(List.of(id))),
                    CompletableFuture.supplyAsync(() -> store().forget(id)),
                    CompletableFuture.supplyAsync(() -> store().hasProcessed("consumer")),
                    CompletableFuture.supplyAsync(() -> store().statistics(List.of("consumer"))));
            for (CompletableFuture<?> lookUp : lookUps) {
                assertThat(lookUp)
                        .failsWithin(Duration.ofSeconds(30))
                        .withThrowableOfType(ExecutionException.class)
                        .withCauseInstanceOf(QueryTimeoutException.class);
            }
            other.rollback();
        }
    }
}
