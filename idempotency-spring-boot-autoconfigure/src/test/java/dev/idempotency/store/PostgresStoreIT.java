package dev.idempotency.store;

import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.idempotency.testing.TestPostgres;
import org.springframework.dao.DataIntegrityViolationException;
import org.springframework.jdbc.core.JdbcTemplate;

class PostgresStoreIT extends AbstractProcessedMessageStoreIT {

    @Override
    String jdbcUrl() {
        return TestPostgres.createDatabase().jdbcUrl();
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
}
