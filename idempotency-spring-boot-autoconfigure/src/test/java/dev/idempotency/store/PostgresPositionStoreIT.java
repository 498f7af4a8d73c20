package dev.idempotency.store;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.database.PositionClaim;
import dev.idempotency.testing.TestDatabase;
import dev.idempotency.testing.TestPostgres;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;

class PostgresPositionStoreIT extends AbstractPositionStoreIT {

    private final TestDatabase database = TestPostgres.createDatabase();

    @Override
    String jdbcUrl() {
        return this.database.jdbcUrl();
    }

    @AfterAll
    void dropDatabase() {
        this.database.close();
    }

    @Test
    void whatHasBeenPassedIsFoundWithoutALock() {
        move(claim(0, 0, 10));
        this.transaction.executeWithoutResult(status -> {
            assertThat(this.store.findPassed(claim(0, 4, 5))).isEqualTo(10);
            assertThat(this.store.findPassed(claim(0, 9, 11))).isNull();
            assertThat(this.store.findPassed(claim(1, 0, 1))).isNull();
            assertThat(this.store.findPassed(
                            new PositionClaim("consumer", claim(0, 0, 1).topic(), 0, "other", 0, 1)))
                    .isNull();
            assertThat(this.jdbc.queryForObject("select txid_current_if_assigned()", Long.class))
                    .isNull();
        });
    }
}
