package dev.idempotency.listener;

import dev.idempotency.testing.TestPostgres;

class PostgresStrategiesIT extends AbstractStrategiesIT {

    @Override
    String jdbcUrl() {
        return TestPostgres.createDatabase().jdbcUrl();
    }
}
