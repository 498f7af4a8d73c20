package dev.idempotency.inbox;

import dev.idempotency.testing.TestPostgres;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DriverManagerDataSource;

/** A database that cannot write every character. */
class PostgresLatinInboxIT extends AbstractInboxIT {

    @Override
    String jdbcUrl() {
        String url = TestPostgres.createDatabase().jdbcUrl();
        JdbcTemplate jdbc = new JdbcTemplate(new DriverManagerDataSource(url));
        String name = jdbc.queryForObject("select current_database()", String.class);
        jdbc.execute("create database " + name + "_latin encoding 'LATIN1' locale 'C' template template0");
        return url.replace(name, name + "_latin");
    }
}
