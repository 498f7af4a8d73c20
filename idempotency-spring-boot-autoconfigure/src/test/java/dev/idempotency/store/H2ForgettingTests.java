package dev.idempotency.store;

import javax.sql.DataSource;
import org.springframework.jdbc.datasource.DriverManagerDataSource;

class H2ForgettingTests extends ForgettingContract {

    @Override
    DataSource createDataSource() {
        return new DriverManagerDataSource("jdbc:h2:mem:forgetting;DB_CLOSE_DELAY=-1");
    }
}
