package dev.idempotency.database;

import java.sql.Connection;
import java.sql.SQLException;
import javax.sql.DataSource;
import org.springframework.jdbc.support.JdbcUtils;
import org.springframework.jdbc.support.MetaDataAccessException;

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
        try {
            return JdbcUtils.extractDatabaseMetaData(dataSource, metaData -> {
                try {
                    return productName(metaData.getConnection(), metaData.getDatabaseProductName());
                } catch (SQLException ex) {
                    throw new IllegalStateException(ex);
                }
            });
        } catch (MetaDataAccessException ex) {
            throw new IllegalStateException(
                    "Could not ask the database for its name, to choose the dialect of the processed-message store",
                    ex);
        }
    }

    /** MySQL's driver says "MySQL" when it talks to MariaDB, whose version tells. */
    private static String productName(Connection connection, String product) throws SQLException {
        boolean mariaDb = connection.getMetaData().getDatabaseProductVersion().contains("MariaDB");
        return mariaDb ? "MariaDB" : product;
    }
}
