package dev.idempotency.inbox;

import dev.idempotency.testing.TestMariaDb;
import java.util.Optional;
import org.junit.jupiter.api.Assumptions;

class MariaDbInboxIT extends AbstractInboxIT {

    @Override
    String jdbcUrl() {
        Optional<String> url = TestMariaDb.createDatabase();
        Assumptions.assumeTrue(url.isPresent(), "There is no embedded MariaDB for this platform");
        return url.orElseThrow();
    }
}
