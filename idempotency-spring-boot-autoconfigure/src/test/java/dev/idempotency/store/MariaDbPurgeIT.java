package dev.idempotency.store;

import dev.idempotency.testing.TestMariaDb;
import java.util.Optional;
import javax.sql.DataSource;
import org.junit.jupiter.api.Assumptions;
import org.springframework.jdbc.datasource.DriverManagerDataSource;

/** The session is in another time zone than the JVM. */
class MariaDbPurgeIT extends PurgeContract {

    @Override
    DataSource createDataSource() {
        Optional<String> url = TestMariaDb.createDatabase();
        Assumptions.assumeTrue(url.isPresent(), "There is no embedded MariaDB for this platform");
        return new DriverManagerDataSource(url.orElseThrow() + "&sessionVariables=time_zone='-09:30'");
    }
}
