package dev.idempotency.database;

import javax.sql.DataSource;
import org.springframework.dao.DataAccessException;
import org.springframework.jdbc.core.ConnectionCallback;
import org.springframework.jdbc.core.JdbcTemplate;

/** Finds the dialect of a database. */
public final class DialectResolver {

    private DialectResolver() {}

    /** The dialect of the database behind the data source, by the name its product gives itself. */
    public static Dialect resolve(DataSource dataSource) {
        ConnectionCallback<String> look = connection -> connection.getMetaData().getDatabaseProductName();
        try {
            return resolve(new JdbcTemplate(dataSource).execute(look));
        } catch (DataAccessException ex) {
            throw new IllegalStateException(
                    "Could not ask the database for its name, to choose the dialect of the processed-message store",
                    ex);
        }
    }

    static Dialect resolve(String product) {
        return switch (product) {
            case "PostgreSQL" -> new PostgresDialect();
            case "H2" -> new H2Dialect();
            case "MariaDB", "MySQL" -> new MySqlDialect();
            default ->
                throw new IllegalStateException(("The database '%s' is not known to idempotency-spring-boot, which"
                                + " supports PostgreSQL, H2, MariaDB and MySQL. Define a bean of type %s for it, or a"
                                + " ProcessedMessageStore of your own.")
                        .formatted(product, Dialect.class.getName()));
        };
    }
}
