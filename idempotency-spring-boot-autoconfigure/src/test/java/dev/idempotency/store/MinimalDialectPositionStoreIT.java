package dev.idempotency.store;

import dev.idempotency.database.Dialect;
import dev.idempotency.database.MinimalDialect;
import javax.sql.DataSource;

/** Plain statements, on a database that gives up a transaction in which one fails. */
class MinimalDialectPositionStoreIT extends PostgresPositionStoreIT {

    @Override
    Dialect dialect(DataSource dataSource) {
        return new MinimalDialect(super.dialect(dataSource));
    }
}
