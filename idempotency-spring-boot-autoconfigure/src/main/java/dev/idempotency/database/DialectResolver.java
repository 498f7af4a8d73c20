package dev.idempotency.database;

import java.sql.DatabaseMetaData;
import javax.sql.DataSource;
import org.springframework.dao.DataAccessException;
import org.springframework.jdbc.core.ConnectionCallback;
import org.springframework.jdbc.core.JdbcTemplate;

/** Finds the dialect of a database. */
public final class DialectResolver {

    private DialectResolver() {}

    /** The dialect of the database behind the data source, by the name its product gives itself. */
    public static Dialect resolve(DataSource dataSource) {
        String product = productName(dataSource);
        return switch (product) {
            case "PostgreSQL" -> new PostgresDialect();
            case "H2" -> new H2Dialect();
            case "MariaDB" -> new MySqlDialect("mariadb");
            case "MySQL" -> new MySqlDialect("mysql");
            default ->
                throw new IllegalStateException(("The database '%s' is not known to idempotency-spring-boot, which"
                                + " supports PostgreSQL, H2, MariaDB and MySQL. Define a bean of type %s for it, or a"
                                + " %s of your own.")
                        .formatted(product, Dialect.class.getName(), "dev.idempotency.store.ProcessedMessageStore"));
        };
    }

    private static String productName(DataSource dataSource) {
        ConnectionCallback<String> look = connection -> {
            DatabaseMetaData metaData = connection.getMetaData();
            // MySQL's driver says "MySQL" when it talks to MariaDB, whose version tells.
            boolean mariaDb = metaData.getDatabaseProductVersion().contains("MariaDB");
            return mariaDb ? "MariaDB" : metaData.getDatabaseProductName();
        };
        try {
            return new JdbcTemplate(dataSource).execute(look);
        } catch (DataAccessException ex) {
            throw new IllegalStateException(
                    "Could not ask the database for its name, to choose the dialect of the processed-message store",
                    ex);
        }
    }
}
