package dev.idempotency.store;

import javax.sql.DataSource;
import org.springframework.jdbc.datasource.DriverManagerDataSource;

class H2PurgeTests extends PurgeContract {

    @Override
    DataSource createDataSource() {
        return new DriverManagerDataSource("jdbc:h2:mem:forgetting;DB_CLOSE_DELAY=-1");
    }
}
