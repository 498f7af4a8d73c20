package dev.idempotency.failure;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.ClaimTimeoutException;
import dev.idempotency.StoreFailedException;
import java.sql.BatchUpdateException;
import java.sql.SQLException;
import java.sql.SQLNonTransientConnectionException;
import java.sql.SQLTimeoutException;
import java.sql.SQLTransientConnectionException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.dao.CannotAcquireLockException;
import org.springframework.dao.DataAccessResourceFailureException;
import org.springframework.dao.DataIntegrityViolationException;
import org.springframework.dao.OptimisticLockingFailureException;
import org.springframework.dao.QueryTimeoutException;
import org.springframework.dao.RecoverableDataAccessException;
import org.springframework.jdbc.CannotGetJdbcConnectionException;
import org.springframework.jdbc.UncategorizedSQLException;
import org.springframework.jdbc.support.SQLStateSQLExceptionTranslator;
import org.springframework.kafka.listener.ListenerExecutionFailedException;
import org.springframework.transaction.CannotCreateTransactionException;
import org.springframework.transaction.IllegalTransactionStateException;
import org.springframework.transaction.InvalidIsolationLevelException;
import org.springframework.transaction.NestedTransactionNotSupportedException;
import org.springframework.transaction.TransactionSystemException;

class DatabaseFailureClassifierTests {

    private final FailureClassifier classifier = new DatabaseFailureClassifier();

    @ParameterizedTest
    @ValueSource(
            strings = {
                "08000", "08001", "08003", "08006", "25006", "40003", "53100", "53300", "57P01", "57P02", "57P03",
                "58030"
            })
    void aDatabaseThatIsAwayOrRefusesIsAnOutage(String state) {
        assertThat(classify(translated(state))).isEqualTo(FailureKind.OUTAGE);
        assertThat(classify(new TransactionSystemException("commit", new SQLException("", state))))
                .isEqualTo(FailureKind.OUTAGE);
    }

    @ParameterizedTest
    @ValueSource(strings = {"40001", "40P01", "55P03"})
    void anotherTransactionInTheWayIsContention(String state) {
        assertThat(classify(translated(state))).isEqualTo(FailureKind.CONTENTION);
        assertThat(classify(new TransactionSystemException("commit", new SQLException("", state))))
                .isEqualTo(FailureKind.CONTENTION);
    }

    @ParameterizedTest
    @ValueSource(strings = {"22001", "23505", "40002", "42P01", "54001", "57014", "P0001"})
    void aStatementThatTheDatabaseCannotOrMayNotExecuteIsTheMessagesFault(String state) {
        FailureKind kind = classify(new UncategorizedSQLException("insert", null, new SQLException("", state)));
        assertThat(kind).isEqualTo(FailureKind.MESSAGE);
        if (!state.equals("40002")) {
            assertThat(classify(translated(state))).isEqualTo(FailureKind.MESSAGE);
        }
    }

    @Test
    void aConnectionThatCannotBeHadIsAnOutageWhateverItsState() {
        assertThat(classify(new CannotCreateTransactionException("", new SQLException("", "28P01"))))
                .isEqualTo(FailureKind.OUTAGE);
        assertThat(classify(new CannotGetJdbcConnectionException("", new SQLException("", "55000"))))
                .isEqualTo(FailureKind.OUTAGE);
        assertThat(classify(new SQLTransientConnectionException("pool exhausted")))
                .isEqualTo(FailureKind.OUTAGE);
        assertThat(classify(new SQLNonTransientConnectionException())).isEqualTo(FailureKind.OUTAGE);
        assertThat(classify(new RecoverableDataAccessException(""))).isEqualTo(FailureKind.OUTAGE);
        assertThat(classify(new DataAccessResourceFailureException(""))).isEqualTo(FailureKind.OUTAGE);
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
        IllegalStateException ofListener = new IllegalStateException("could not save");
        ofListener.addSuppressed(notEnded);
        assertThat(classify(ofListener)).isEqualTo(FailureKind.OUTAGE);
        assertThat(DatabaseFailureClassifier.canBeOfOneMessage(ofListener)).isTrue();
        // Pools close connections after a timeout, too.
        QueryTimeoutException timeout = new QueryTimeoutException("", new SQLTimeoutException("", "70100", 1969));
        timeout.addSuppressed(notEnded);
        assertThat(classify(timeout)).isEqualTo(FailureKind.MESSAGE);
    }

    @Test
    void aReadOnlyServerOfMySqlIsAnOutage() {
        assertThat(classify(new SQLException("", "HY000", 1290))).isEqualTo(FailureKind.OUTAGE);
        assertThat(classify(new SQLException("", "HY000", 1364))).isEqualTo(FailureKind.MESSAGE);
    }

    @Test
    void statesDecideBeforeClassesOfExceptions() {
        SQLException signalled = new SQLTransientConnectionException("no such account", "45000", 1644);
        assertThat(classify(signalled)).isEqualTo(FailureKind.MESSAGE);
        assertThat(classify(new DataAccessResourceFailureException("", new IllegalStateException(signalled))))
                .isEqualTo(FailureKind.MESSAGE);
        assertThat(classify(new RecoverableDataAccessException("", signalled))).isEqualTo(FailureKind.MESSAGE);
        assertThat(classify(new SQLTransientConnectionException("", "99999", 1644)))
                .isEqualTo(FailureKind.MESSAGE);
    }

    @ParameterizedTest
    @CsvSource({
        "HY000, 1205, CONTENTION",
        "HY000, 1020, CONTENTION",
        "40001, 1213, CONTENTION",
        "HY000, 3572, CONTENTION",
        "HYT00, 50200, CONTENTION",
        "90131, 90131, CONTENTION",
        "08004, 1040, OUTAGE",
        "42000, 1203, OUTAGE",
        "42000, 1226, OUTAGE",
        "HY000, 1021, OUTAGE",
        "HY000, 1114, OUTAGE",
        "70100, 1927, OUTAGE",
        "08P01, 0, OUTAGE",
        "90097, 90097, OUTAGE",
        "70100, 1317, MESSAGE",
        "70100, 1969, MESSAGE",
        "HY000, 3024, MESSAGE",
        "42000, 1064, MESSAGE",
        "42000, 1142, MESSAGE",
        "90039, 90039, MESSAGE"
    })
    void codesDecideWhereStatesSayLittle(String state, int code, FailureKind kind) {
        assertThat(classify(new SQLException("", state, code))).isEqualTo(kind);
        if (state.equals("70100")) {
            assertThat(classify(new SQLTransientConnectionException("", state, code)))
                    .isEqualTo(kind);
        }
    }

    @Test
    void aConnectionOfH2ThatIsBrokenIsAnOutage() {
        assertThat(classify(new SQLNonTransientConnectionException("", "90067", 90067)))
                .isEqualTo(FailureKind.OUTAGE);
    }

    @Test
    void anErrorInTheProgramIsNoOutage() {
        assertThat(classify(new NestedTransactionNotSupportedException("no savepoints")))
                .isEqualTo(FailureKind.MESSAGE);
        assertThat(classify(new IllegalStateException(new NestedTransactionNotSupportedException("no savepoints"))))
                .isEqualTo(FailureKind.MESSAGE);
        assertThat(classify(new IllegalTransactionStateException(""))).isEqualTo(FailureKind.MESSAGE);
        assertThat(classify(new InvalidIsolationLevelException(""))).isEqualTo(FailureKind.MESSAGE);
        assertThat(classify(new CannotCreateTransactionException("", new InvalidIsolationLevelException(""))))
                .isEqualTo(FailureKind.MESSAGE);
        assertThat(classify(new CannotGetJdbcConnectionException("", new IllegalStateException("no such tenant"))))
                .isEqualTo(FailureKind.MESSAGE);
    }

    @Test
    void aStatementOfTheLibrarysOwnThatFailsIsNotTheMessagesFault() {
        assertThat(classify(new StoreFailedException("", new SQLException("", "42501"))))
                .isEqualTo(FailureKind.OUTAGE);
        assertThat(classify(new StoreFailedException("", new IllegalStateException())))
                .isEqualTo(FailureKind.OUTAGE);
        assertThat(classify(new StoreFailedException("", new SQLException("", "40P01"))))
                .isEqualTo(FailureKind.CONTENTION);
        assertThat(classify(new StoreFailedException(
                        "", new CannotCreateTransactionException("", new IllegalStateException()))))
                .isEqualTo(FailureKind.OUTAGE);
    }

    @Test
    void whatLooksLikeAnOutageCanBeOfOneMessageIfThereWasAConnection() {
        assertThat(DatabaseFailureClassifier.canBeOfOneMessage(translated("53400")))
                .isTrue();
        assertThat(DatabaseFailureClassifier.canBeOfOneMessage(translated("25006")))
                .isTrue();
        assertThat(DatabaseFailureClassifier.canBeOfOneMessage(
                        new StoreFailedException("", new SQLException("", "08006"))))
                .isTrue();
        assertThat(DatabaseFailureClassifier.canBeOfOneMessage(
                        new StoreFailedException("", new SQLException("", "42501"))))
                .isFalse();
        assertThat(DatabaseFailureClassifier.canBeOfOneMessage(
                        new CannotGetJdbcConnectionException("", new SQLException("", "08006"))))
                .isFalse();
        assertThat(DatabaseFailureClassifier.canBeOfOneMessage(new SQLTransientConnectionException("pool exhausted")))
                .isFalse();
        assertThat(DatabaseFailureClassifier.canBeOfOneMessage(translated("53300")))
                .isFalse();
        assertThat(DatabaseFailureClassifier.canBeOfOneMessage(new DataAccessResourceFailureException("")))
                .isFalse();
    }

    @Test
    void aClaimThatWaitedTooLongIsContention() {
        assertThat(classify(new ClaimTimeoutException("", new SQLException("", "57014"))))
                .isEqualTo(FailureKind.CONTENTION);
        assertThat(classify(new CannotAcquireLockException(""))).isEqualTo(FailureKind.CONTENTION);
    }

    @Test
    void whatTheListenerThrowsItselfIsTheMessagesFault() {
        assertThat(classify(new IllegalStateException(new NullPointerException())))
                .isEqualTo(FailureKind.MESSAGE);
        assertThat(classify(new DataIntegrityViolationException(""))).isEqualTo(FailureKind.MESSAGE);
        assertThat(classify(new OptimisticLockingFailureException(""))).isEqualTo(FailureKind.MESSAGE);
        assertThat(classify(new QueryTimeoutException(""))).isEqualTo(FailureKind.MESSAGE);
    }

    @Test
    void anOutageIsFoundAmongCausesSuppressedAndNextExceptions() {
        SQLException lost = new SQLException("", "08006");
        assertThat(classify(new ListenerExecutionFailedException("", new IllegalStateException(lost))))
                .isEqualTo(FailureKind.OUTAGE);
        IllegalStateException swallowed = new IllegalStateException("could not save");
        swallowed.addSuppressed(new TransactionSystemException("rollback", lost));
        assertThat(classify(new ListenerExecutionFailedException("", swallowed)))
                .isEqualTo(FailureKind.OUTAGE);
        BatchUpdateException batch = new BatchUpdateException();
        batch.setNextException(lost);
        assertThat(classify(batch)).isEqualTo(FailureKind.OUTAGE);
    }

    @Test
    void exceptionsThatCauseEachOtherAreNotFollowedForEver() {
        IllegalStateException one = new IllegalStateException();
        IllegalStateException other = new IllegalStateException(one);
        one.initCause(other);
        assertThat(classify(one)).isEqualTo(FailureKind.MESSAGE);
    }

    private FailureKind classify(Throwable failure) {
        return this.classifier.classify(failure);
    }

    private static Exception translated(String state) {
        SQLException exception = new SQLException("", state);
        Exception translated = new SQLStateSQLExceptionTranslator().translate("test", null, exception);
        return (translated != null) ? translated : exception;
    }
}
