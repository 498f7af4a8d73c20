package dev.idempotency.test;

import dev.idempotency.testing.TestMariaDb;
import java.util.Optional;
import org.junit.jupiter.api.Assumptions;

class MariaDbStoreContractIT extends JdbcStoreContract {

    @Override
    String jdbcUrl() {
        Optional<String> url = TestMariaDb.createDatabase();
        Assumptions.assumeTrue(url.isPresent(), "There is no embedded MariaDB for this platform");
        return url.orElseThrow();
    }
}
