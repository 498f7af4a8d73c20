package dev.idempotency.inbox;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.failure.DatabaseFailureClassifier;
import dev.idempotency.failure.FailureKind;
import java.sql.BatchUpdateException;
import java.sql.SQLException;
import java.sql.SQLRecoverableException;
import java.sql.SQLTransientConnectionException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.dao.DataAccessException;
import org.springframework.dao.DuplicateKeyException;
import org.springframework.jdbc.UncategorizedSQLException;
import org.springframework.jdbc.support.SQLExceptionSubclassTranslator;

class SqlExceptionSanitizerTests {

    private static DataAccessException translated(SQLException failure) {
        DataAccessException translated = new SQLExceptionSubclassTranslator().translate("task", "sql", failure);
        return (translated != null) ? translated : new UncategorizedSQLException("task", "sql", failure);
    }

    private static SQLException batch(SQLException cause) {
        BatchUpdateException batch = new BatchUpdateException(
                "Batch entry 0 insert … ('secret') was aborted: " + cause.getMessage(),
                cause.getSQLState(),
                cause.getErrorCode(),
                new int[0],
                cause);
        batch.setNextException(cause);
        return batch;
    }

    /** What the retries depend on. */
    @ParameterizedTest
    @CsvSource({"40P01", "40001", "55P03", "08006", "53300", "57P01", "25006", "57014", "23505", "22001", "42P01"})
    void theKindOfFailureStaysTheSame(String state) {
        SQLException failure = new SQLException("what happened", state);
        FailureKind kind = new DatabaseFailureClassifier().classify(translated(failure));
        assertThat(new DatabaseFailureClassifier().classify(SqlExceptionSanitizer.sanitize(translated(failure))))
                .isEqualTo(kind);
        assertThat(new DatabaseFailureClassifier().classify(SqlExceptionSanitizer.sanitize(translated(batch(failure)))))
                .isEqualTo(kind);
    }

    @Test
    void aLostConnectionIsAnOutageWithoutAnyState() {
        assertThat(new DatabaseFailureClassifier()
                        .classify(SqlExceptionSanitizer.sanitize(
                                translated(new SQLTransientConnectionException("gone")))))
                .isEqualTo(FailureKind.OUTAGE);
        assertThat(new DatabaseFailureClassifier()
                        .classify(SqlExceptionSanitizer.sanitize(translated(new SQLRecoverableException("gone")))))
                .isEqualTo(FailureKind.OUTAGE);
    }

    @Test
    void valuesAreLeftOutWhereverTheDatabasePutsThem() {
        SQLException violation = new SQLException("violates a constraint\n  Detail: row contains (secret)", "23505");
        RuntimeException single = SqlExceptionSanitizer.sanitize(translated(violation));
        assertThat(single).isInstanceOf(DuplicateKeyException.class);
        assertThat(StackTraceFormatter.format(single))
                .contains("violates a constraint")
                .doesNotContain("secret");
        assertThat(StackTraceFormatter.format(SqlExceptionSanitizer.sanitize(translated(batch(violation)))))
                .contains("violates a constraint")
                .doesNotContain("secret");
        SQLException deadlock = new SQLException("deadlock detected\n  Detail: process 1 waits", "40P01");
        assertThat(StackTraceFormatter.format(SqlExceptionSanitizer.sanitize(translated(batch(deadlock)))))
                .contains("process 1 waits")
                .doesNotContain("secret");
    }
}
