package dev.idempotency.internal.dedup;

import static dev.idempotency.app.Thrown.assertThrown;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.idempotency.DuplicateKind;
import dev.idempotency.MessageId;
import dev.idempotency.RecordCoordinates;
import dev.idempotency.UnprotectedCallException;
import dev.idempotency.event.Duplicate;
import dev.idempotency.internal.database.IdempotencyDatabase;
import dev.idempotency.internal.store.JdbcPositionStore;
import dev.idempotency.internal.store.JdbcVersionStore;
import dev.idempotency.internal.store.StoreServer;
import dev.idempotency.testing.TestDatabase;
import dev.idempotency.testing.TestPostgres;
import java.sql.BatchUpdateException;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.springframework.dao.DuplicateKeyException;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.transaction.UnexpectedRollbackException;

/** Which failures make a duplicate of the message. */
class UniqueConstraintStrategyIT {

    private static final InboundMessage MESSAGE = new InboundMessage(
            0,
            new ConsumerRecord<>("topic", 0, 1, null, "payload"),
            new MessageId("consumer", "topic-0@1"),
            new RecordCoordinates("topic", 0, 1));

    private static TestDatabase testDatabase;
    private static JdbcTemplate jdbc;
    private static ClaimStrategy strategy;
    private static SQLException violation;
    private static SQLException ofAnother;

    @BeforeAll
    static void violate() {
        testDatabase = TestPostgres.createDatabase();
        DriverManagerDataSource dataSource = new DriverManagerDataSource(testDatabase.jdbcUrl());
        jdbc = new JdbcTemplate(dataSource);
        jdbc.execute(
                "create table payment (id int not null constraint payment_id unique, other int constraint payment_other unique)");
        jdbc.update("insert into payment values (1, 1)");
        IdempotencyDatabase database = StoreServer.databaseOf(dataSource);
        JdbcStrategyFactory strategies = new JdbcStrategyFactory(
                database,
                Duration.ofSeconds(1),
                new JdbcPositionStore(database, Duration.ofSeconds(1)),
                new JdbcVersionStore(database, Duration.ofSeconds(1)));
        strategy = strategies.byUniqueConstraint(strategies.findUniqueConstraint("payment_id"));
        violation = errorOf("insert into payment values (1, 2)");
        ofAnother = errorOf("insert into payment values (2, 1)");
    }

    private static SQLException errorOf(String statement) {
        return (SQLException) catchThrowableOfType(DuplicateKeyException.class, () -> jdbc.update(statement))
                .getCause();
    }

    @AfterAll
    static void shutDown() {
        testDatabase.close();
    }

    private static boolean isRefusal(Throwable failure) {
        return strategy.refusalOf(MESSAGE, failure) != null;
    }

    @Test
    void aViolationCountsAnywhereAmongTheCausesAndTheErrorsOfABatch() {
        assertThat(isRefusal(violation)).isTrue();
        assertThat(isRefusal(new Exception(new Error(violation)))).isTrue();
        SQLException first = new SQLException("a warning of the driver's", "01000");
        first.setNextException(violation);
        assertThat(isRefusal(new IllegalStateException(first))).isTrue();
        BatchUpdateException batch = new BatchUpdateException("of a batch", "23505", 23505, new int[0]);
        batch.setNextException(violation);
        assertThat(isRefusal(batch)).isTrue();
    }

    @Test
    void oneOfAnotherConstraintDoesNotCountNorBothTogether() {
        assertThat(isRefusal(ofAnother)).isFalse();
        assertThat(isRefusal(new RuntimeException(new SQLException("both", "23505", 23505, violation))))
                .isFalse();
        BatchUpdateException batch = new BatchUpdateException("of a batch", "23505", 23505, new int[0], ofAnother);
        batch.setNextException(violation);
        assertThat(isRefusal(batch)).isFalse();
    }

    @Test
    void oneThatTheListenerHasCaughtOrThatWasSuppressedDoesNotCount() {
        assertThat(isRefusal(new UnexpectedRollbackException("marked", violation)))
                .isFalse();
        IllegalStateException other = new IllegalStateException("something else");
        other.addSuppressed(violation);
        assertThat(isRefusal(other)).isFalse();
    }

    @Test
    void ofTheDuplicateNothingIsKnownButThatItIsOne() {
        Duplicate duplicate = new Duplicate(MESSAGE.id(), MESSAGE.coordinates(), DuplicateKind.UNKNOWN, null, null);
        assertThat(strategy.refusalOf(MESSAGE, violation)).isEqualTo(new ClaimResult(List.of(), List.of(duplicate)));
    }

    @Test
    void withoutTheListenersTransactionNobodyIsLetIn() {
        assertThrown(
                UnprotectedCallException.class,
                () -> strategy.claim(List.of(MESSAGE)),
                "no transaction of the store's DataSource");
    }
}
