package dev.idempotency.inbox;

import dev.idempotency.database.Dialect;
import dev.idempotency.database.MinimalDialect;
import javax.sql.DataSource;

class MinimalDialectInboxIT extends AbstractInboxIT {

    @Override
    String jdbcUrl() {
        return "jdbc:h2:mem:minimal-inbox;DB_CLOSE_DELAY=-1;LOCK_TIMEOUT=30000;TIME ZONE=-09:30";
    }

    @Override
    Dialect dialect(DataSource database) {
        return new MinimalDialect(super.dialect(database));
    }
}
