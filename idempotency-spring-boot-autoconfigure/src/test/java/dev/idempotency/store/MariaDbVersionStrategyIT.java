package dev.idempotency.store;

import dev.idempotency.testing.TestMariaDb;
import java.util.Optional;
import org.junit.jupiter.api.Assumptions;

/** The session is in another time zone than the JVM. */
class MariaDbVersionStrategyIT extends AbstractVersionStrategyIT {

    @Override
    String jdbcUrl() {
        Optional<String> url = TestMariaDb.createDatabase();
        Assumptions.assumeTrue(url.isPresent(), "There is no embedded MariaDB for this platform");
        return url.orElseThrow() + "&sessionVariables=time_zone='-09:30'";
    }
}
