package dev.idempotency.operation;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.idempotency.TransactionLostException;
import dev.idempotency.testing.TestDatabase;
import dev.idempotency.testing.TestPostgres;
import org.junit.jupiter.api.Test;
import org.springframework.dao.DataIntegrityViolationException;

class PostgresOperationsIT extends AbstractHostileOperationsIT {

    private final TestDatabase database = TestPostgres.createDatabase();

    @Override
    String jdbcUrl() {
        return this.database.jdbcUrl();
    }

    @Override
    void age(String table, String key, double days) {
        jdbc().update(
                        "update " + table
                                + " set processed_at = processed_at - ? * interval '1 day' where message_id = ?",
                        days,
                        key);
    }

    @Test
    void aTransactionThatTheDatabaseHasGivenUpIsNoSuccess() {
        assertThatExceptionOfType(TransactionLostException.class)
                .isThrownBy(() -> operations().execute(id("a"), this::failAndCatch))
                .withMessageContaining("receipts:a");
        assertThatExceptionOfType(TransactionLostException.class)
                .isThrownBy(() -> operations().execute(id("a"), String.class, () -> {
                    failAndCatch();
                    return "done";
                }));
        assertThatExceptionOfType(TransactionLostException.class)
                .isThrownBy(() -> transaction().executeWithoutResult(status -> {
                    operations().claim(id("a"));
                    failAndCatch();
                }));
        assertThat(operations().execute(id("a"), () -> {}).isDuplicate()).isFalse();
    }

    private void failAndCatch() {
        happen("before");
        try {
            happen(null);
        } catch (DataIntegrityViolationException ex) {
            // As some do.
        }
    }
}
