package dev.idempotency.store;

import dev.idempotency.testing.TestDatabase;
import dev.idempotency.testing.TestPostgres;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterAll;
import org.springframework.jdbc.datasource.DriverManagerDataSource;

class PostgresPurgeIT extends PurgeContract {

    private final TestDatabase database = TestPostgres.createDatabase();

    @Override
    DataSource createDataSource() {
        return new DriverManagerDataSource(this.database.jdbcUrl());
    }

    @AfterAll
    void dropDatabase() {
        this.database.close();
    }
}
