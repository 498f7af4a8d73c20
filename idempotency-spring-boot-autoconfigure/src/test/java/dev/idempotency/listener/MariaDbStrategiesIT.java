package dev.idempotency.listener;

import dev.idempotency.testing.TestMariaDb;
import java.util.Optional;
import org.junit.jupiter.api.Assumptions;

class MariaDbStrategiesIT extends AbstractStrategiesIT {

    @Override
    String jdbcUrl() {
        Optional<String> url = TestMariaDb.createDatabase();
        Assumptions.assumeTrue(url.isPresent(), "No MariaDB server starts here");
        return url.get();
    }
}
