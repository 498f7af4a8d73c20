package dev.idempotency.store;

import dev.idempotency.testing.TestPostgres;

class PostgresStoreIT extends AbstractProcessedMessageStoreIT {

    @Override
    String jdbcUrl() {
        return TestPostgres.createDatabase().jdbcUrl();
    }
}
