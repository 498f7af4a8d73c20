package dev.idempotency.store;

import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.idempotency.testing.TestPostgres;
import org.springframework.dao.DataIntegrityViolationException;
import org.springframework.jdbc.core.JdbcTemplate;

class PostgresVersionStrategyIT extends AbstractVersionStrategyIT {

    @Override
    String jdbcUrl() {
        return TestPostgres.createDatabase().jdbcUrl();
    }

    @Override
    void giveUpTransaction(JdbcTemplate template) {
        assertThatExceptionOfType(DataIntegrityViolationException.class)
                .isThrownBy(() -> template.execute("insert into effect (nanos) values (null)"));
    }
}
