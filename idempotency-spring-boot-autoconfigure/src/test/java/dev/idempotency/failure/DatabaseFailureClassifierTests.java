package dev.idempotency.failure;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.ClaimTimeoutException;
import java.sql.BatchUpdateException;
import java.sql.SQLException;
import java.sql.SQLNonTransientConnectionException;
import java.sql.SQLTransientConnectionException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
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
    void aReadOnlyServerOfMySqlIsAnOutage() {
        assertThat(classify(new SQLException("", "HY000", 1290))).isEqualTo(FailureKind.OUTAGE);
        assertThat(classify(new SQLException("", "HY000", 1364))).isEqualTo(FailureKind.MESSAGE);
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
