package dev.idempotency.inbox;

import dev.idempotency.database.Dialect;
import dev.idempotency.database.MinimalDialect;
import dev.idempotency.testing.TestPostgres;
import javax.sql.DataSource;

/** On a database that gives up a transaction in which a statement has failed. */
class PostgresMinimalDialectInboxIT extends AbstractInboxIT {

    @Override
    String jdbcUrl() {
        return TestPostgres.createDatabase().jdbcUrl();
    }

    @Override
    Dialect dialect(DataSource database) {
        return new MinimalDialect(super.dialect(database));
    }
}
