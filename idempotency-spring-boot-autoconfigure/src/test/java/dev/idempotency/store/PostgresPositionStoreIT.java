package dev.idempotency.store;

import dev.idempotency.testing.TestDatabase;
import dev.idempotency.testing.TestPostgres;
import org.junit.jupiter.api.AfterAll;

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
}
