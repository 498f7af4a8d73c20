package dev.idempotency.test;

import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.idempotency.testing.TestPostgres;
import org.springframework.dao.DataIntegrityViolationException;

class PostgresStoreContractIT extends JdbcStoreContract {

    @Override
    String jdbcUrl() {
        return TestPostgres.createDatabase().jdbcUrl();
    }

    @Override
    protected void abortTransaction() {
        assertThatExceptionOfType(DataIntegrityViolationException.class).isThrownBy(() -> jdbc().execute("select 1/0"));
    }
}
