package dev.idempotency.store;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.database.Dialect;
import dev.idempotency.database.MinimalDialect;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;

/** Plain statements, on a database that gives up a transaction in which one fails. */
class MinimalDialectPositionStoreIT extends PostgresPositionStoreIT {

    @Override
    Dialect dialect(DataSource dataSource) {
        return new MinimalDialect(super.dialect(dataSource));
    }

    /** Nothing is looked up before it is claimed. */
    @Override
    @Test
    void whatHasBeenPassedIsFoundWithoutALock() {
        move(claim(0, 0, 10));
        this.transaction.executeWithoutResult(
                status -> assertThat(this.store.findPassed(claim(0, 4, 5))).isNull());
    }
}
