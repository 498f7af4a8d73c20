package dev.idempotency.inbox;

import dev.idempotency.testing.TestPostgres;

class PostgresInboxIT extends AbstractInboxIT {

    @Override
    String jdbcUrl() {
        return TestPostgres.createDatabase().jdbcUrl();
    }
}
