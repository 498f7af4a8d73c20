package dev.idempotency.internal.database;

import dev.idempotency.StartupCheck;
import java.util.regex.Pattern;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.jdbc.core.ConnectionCallback;
import org.springframework.jdbc.core.JdbcTemplate;

/** Finds the dialect of a database. */
public final class DialectResolver {

    private static final Logger logger = LoggerFactory.getLogger(DialectResolver.class);

    /** As in {@code PostgreSQL 18.1 (Debian 18.1-1) on x86_64-pc-linux-gnu, compiled by gcc}; not {@code 15.2-YB-2025.1}. */
    private static final Pattern POSTGRESQL = Pattern.compile("PostgreSQL (?!.*(-YB-|Redshift)).* on .*");

    private DialectResolver() {}

    /** The dialect of the database behind the data source, by the name its product gives itself. */
    public static Dialect resolve(DataSource dataSource) {
        ConnectionCallback<String> name = connection -> connection.getMetaData().getDatabaseProductName();
        return resolve(new JdbcTemplate(dataSource).execute(name), dataSource);
    }

    static Dialect resolve(String product, DataSource dataSource) {
        return switch (product) {
            case "PostgreSQL" ->
                postgres(new JdbcTemplate(dataSource).queryForObject("select version()", String.class));
            case "H2" -> new H2Dialect();
            case "MariaDB", "MySQL" -> new MySqlDialect();
            default ->
                throw new IllegalStateException(("The database '%s' is not known to idempotency-spring-boot, which"
                                + " supports PostgreSQL, H2, MariaDB and MySQL. Define your own ProcessedMessageStore"
                                + " for it.")
                        .formatted(product));
        };
    }

    /** Other engines give themselves the same name: only their version differs. */
    static Dialect postgres(@Nullable String version) {
        if (version == null || !POSTGRESQL.matcher(version).matches()) {
            logger.warn(
                    "The database '{}' is not PostgreSQL itself, the only one of its kind that idempotency-spring-boot is"
                            + " tested with. See {}scaling.md#other-engines",
                    version,
                    StartupCheck.DOCUMENTATION);
        }
        return new PostgresDialect();
    }
}
