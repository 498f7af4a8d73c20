package dev.idempotency.internal.failure;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.ClaimTimeoutException;
import dev.idempotency.LockTimeoutException;
import dev.idempotency.StoreFailedException;
import dev.idempotency.failure.DatabaseFailureClassifier;
import dev.idempotency.failure.FailureClassifier;
import dev.idempotency.failure.FailureKind;
import java.sql.BatchUpdateException;
import java.sql.SQLException;
import java.sql.SQLNonTransientConnectionException;
import java.sql.SQLTimeoutException;
import java.sql.SQLTransientConnectionException;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.dao.CannotAcquireLockException;
import org.springframework.dao.DataAccessResourceFailureException;
import org.springframework.dao.DataIntegrityViolationException;
import org.springframework.dao.OptimisticLockingFailureException;
import org.springframework.dao.QueryTimeoutException;
import org.springframework.dao.RecoverableDataAccessException;
import org.springframework.jdbc.CannotGetJdbcConnectionException;
import org.springframework.jdbc.support.SQLStateSQLExceptionTranslator;
import org.springframework.kafka.listener.ListenerExecutionFailedException;
import org.springframework.transaction.CannotCreateTransactionException;
import org.springframework.transaction.IllegalTransactionStateException;
import org.springframework.transaction.InvalidIsolationLevelException;
import org.springframework.transaction.NestedTransactionNotSupportedException;
import org.springframework.transaction.TransactionSystemException;

class DatabaseFailureClassifierTests {

    private final FailureClassifier classifier = new DatabaseFailureClassifier();

    /** PostgreSQL is classified by state; MySQL, MariaDB and H2 by error code, as their states are unspecific. */
    @ParameterizedTest
    @CsvSource({
        "OUTAGE, 08000 08001 08003 08006 08P01 25006 40003 53100 53300 57P01 57P02 57P03 58030",
        "OUTAGE, 08004/1040 42000/1203 42000/1226 HY000/1021 HY000/1114 HY000/1290 70100/1927 90097/90097",
        "CONTENTION, 40001 40P01 55P03",
        "CONTENTION, HY000/1205 HY000/1020 40001/1213 HY000/3572 HYT00/50200 90131/90131",
        "MESSAGE, 22001 23505 42P01 54001 57014 P0001",
        "MESSAGE, 70100/1317 70100/1969 HY000/3024 HY000/1364 42000/1064 42000/1142 90039/90039"
    })
    void statesAndCodesDecide(FailureKind kind, String errors) {
        for (String error : errors.split(" ")) {
            String state = error.split("/")[0];
            SQLException exception =
                    new SQLException("", state, error.contains("/") ? Integer.parseInt(error.split("/")[1]) : 0);
            assertThat(classify(exception)).as(error).isEqualTo(kind);
            assertThat(classify(new TransactionSystemException("commit", exception)))
                    .as(error)
                    .isEqualTo(kind);
            if (!error.contains("/")) {
                assertThat(classify(translated(state))).as(error).isEqualTo(kind);
            }
        }
    }

    @Test
    void aConnectionThatCannotBeHadOrWasLostIsAnOutage() {
        assertClassified(
                FailureKind.OUTAGE,
                new CannotCreateTransactionException("", new SQLException("", "28P01")),
                new CannotGetJdbcConnectionException("", new SQLException("", "55000")),
                new SQLTransientConnectionException("pool exhausted"),
                new SQLTransientConnectionException("killed", "70100", 1927),
                new SQLNonTransientConnectionException(),
                new SQLNonTransientConnectionException("broken, of H2", "90067", 90067),
                new RecoverableDataAccessException(""),
                new DataAccessResourceFailureException(""),
                new StoreFailedException("", new SQLException("", "42501")),
                new StoreFailedException("", new CannotCreateTransactionException("", new IllegalStateException())),
                new ListenerExecutionFailedException("", new IllegalStateException(new SQLException("", "08006"))),
                suppressing(new IllegalStateException(), new SQLException("", "08006")),
                withNext(new BatchUpdateException(), new SQLException("", "08006")));
    }

    @Test
    void whatTheListenerOrTheProgramCausesIsTheMessagesFault() {
        SQLException signalled = new SQLTransientConnectionException("no such account", "45000", 1644);
        assertClassified(
                FailureKind.MESSAGE,
                signalled,
                new DataAccessResourceFailureException("", new IllegalStateException(signalled)),
                new RecoverableDataAccessException("", signalled),
                new SQLTransientConnectionException("timeout", "70100", 1969),
                new NestedTransactionNotSupportedException("no savepoints"),
                new IllegalStateException(new NestedTransactionNotSupportedException("no savepoints")),
                new IllegalTransactionStateException(""),
                new CannotCreateTransactionException("", new InvalidIsolationLevelException("")),
                new CannotGetJdbcConnectionException("", new IllegalStateException("no such tenant")),
                new IllegalStateException(new NullPointerException()),
                new DataIntegrityViolationException(""),
                new OptimisticLockingFailureException(""),
                new QueryTimeoutException(""),
                circle());
    }

    @Test
    void aClaimOrALockThatWasWaitedForTooLongIsContention() {
        assertClassified(
                FailureKind.CONTENTION,
                new ClaimTimeoutException("", new SQLException("", "57014")),
                new LockTimeoutException("", null),
                new CannotAcquireLockException(""),
                new StoreFailedException("", new SQLException("", "40P01")));
    }

    @Test
    void aConnectionClosedAtTheEndOfTheTransactionIsAnOutage() {
        SQLException closed = new SQLException("Connection is closed");
        assertThat(classify(closed)).isEqualTo(FailureKind.MESSAGE);
        TransactionSystemException notEnded = new TransactionSystemException("JDBC rollback failed", closed);
        assertThat(classify(notEnded)).isEqualTo(FailureKind.OUTAGE);
        assertThat(DatabaseFailureClassifier.canBeOfOneMessage(notEnded)).isFalse();
        assertThat(classify(new TransactionSystemException("", new IllegalStateException("invalid entity"))))
                .isEqualTo(FailureKind.MESSAGE);
        Exception ofListener = suppressing(new IllegalStateException("could not save"), notEnded);
        assertThat(classify(ofListener)).isEqualTo(FailureKind.OUTAGE);
        assertThat(DatabaseFailureClassifier.canBeOfOneMessage(ofListener)).isTrue();
        // Pools close connections after a timeout as well.
        Exception timeout = new QueryTimeoutException("", new SQLTimeoutException("", "70100", 1969));
        assertThat(classify(suppressing(timeout, notEnded))).isEqualTo(FailureKind.MESSAGE);
    }

    @Test
    void whatLooksLikeAnOutageCanBeOfOneMessageIfThereWasAConnection() {
        assertThat(List.of(
                        translated("53400"),
                        translated("25006"),
                        new StoreFailedException("", new SQLException("", "08006"))))
                .allMatch(DatabaseFailureClassifier::canBeOfOneMessage);
        assertThat(List.of(
                        new StoreFailedException("", new SQLException("", "42501")),
                        new CannotGetJdbcConnectionException("", new SQLException("", "08006")),
                        new SQLTransientConnectionException("pool exhausted"),
                        translated("53300"),
                        new DataAccessResourceFailureException("")))
                .noneMatch(DatabaseFailureClassifier::canBeOfOneMessage);
    }

    private FailureKind classify(Throwable failure) {
        return this.classifier.classify(failure);
    }

    private void assertClassified(FailureKind kind, Exception... failures) {
        assertThat(failures).allSatisfy(failure -> assertThat(classify(failure)).isEqualTo(kind));
    }

    private static Exception translated(String state) {
        SQLException exception = new SQLException("", state);
        Exception translated = new SQLStateSQLExceptionTranslator().translate("test", null, exception);
        return (translated != null) ? translated : exception;
    }

    private static Exception suppressing(Exception failure, Exception suppressed) {
        failure.addSuppressed(suppressed);
        return failure;
    }

    private static Exception withNext(SQLException failure, SQLException next) {
        failure.setNextException(next);
        return failure;
    }

    private static Exception circle() {
        IllegalStateException one = new IllegalStateException();
        one.initCause(new IllegalStateException(one));
        return one;
    }
}
