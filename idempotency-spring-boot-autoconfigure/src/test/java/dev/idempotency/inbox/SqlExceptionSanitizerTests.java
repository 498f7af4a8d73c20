package dev.idempotency.inbox;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.failure.DatabaseFailureClassifier;
import dev.idempotency.failure.FailureKind;
import java.sql.BatchUpdateException;
import java.sql.SQLException;
import java.sql.SQLTransientConnectionException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.dao.DuplicateKeyException;
import org.springframework.jdbc.UncategorizedSQLException;

class SqlExceptionSanitizerTests {

    private static RuntimeException sanitized(SQLException failure) {
        return SqlExceptionSanitizer.sanitize(new UncategorizedSQLException("task", "sql", failure));
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
        DatabaseFailureClassifier classifier = new DatabaseFailureClassifier();
        FailureKind kind = classifier.classify(new UncategorizedSQLException("task", "sql", failure));
        assertThat(classifier.classify(sanitized(failure))).isEqualTo(kind);
        assertThat(classifier.classify(sanitized(batch(failure)))).isEqualTo(kind);
        assertThat(classifier.classify(sanitized(new SQLTransientConnectionException("gone"))))
                .isEqualTo(FailureKind.OUTAGE);
    }

    @Test
    void valuesAreLeftOutWhereverTheDatabasePutsThem() {
        SQLException violation = new SQLException("violates a constraint\n  Detail: row contains (secret)", "23505");
        assertThat(sanitized(violation)).isInstanceOf(DuplicateKeyException.class);
        for (SQLException failure : new SQLException[] {violation, batch(violation)}) {
            assertThat(StackTraceFormatter.format(sanitized(failure)))
                    .contains("violates a constraint")
                    .doesNotContain("secret");
        }
        SQLException deadlock = new SQLException("deadlock detected\n  Detail: process 1 waits", "40P01");
        assertThat(StackTraceFormatter.format(sanitized(batch(deadlock))))
                .contains("process 1 waits")
                .doesNotContain("secret");
    }
}
