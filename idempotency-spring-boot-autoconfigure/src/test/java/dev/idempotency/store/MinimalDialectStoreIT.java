package dev.idempotency.store;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.database.Dialect;
import dev.idempotency.database.MinimalDialect;
import java.util.Set;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;

class MinimalDialectStoreIT extends AbstractProcessedMessageStoreIT {

    @Override
    String jdbcUrl() {
        return "jdbc:h2:mem:minimal-store;DB_CLOSE_DELAY=-1;LOCK_TIMEOUT=30000;TIME ZONE=-09:30";
    }

    @Override
    Dialect dialect(DataSource dataSource) {
        return new MinimalDialect(super.dialect(dataSource));
    }

    @Override
    String analyze() {
        return "analyze";
    }

    @Override
    @Test
    void theDatabaseEstimatesTheNumberOfMessages() {
        assertThat(store().statistics(Set.of()).rows()).isNull();
    }
}
