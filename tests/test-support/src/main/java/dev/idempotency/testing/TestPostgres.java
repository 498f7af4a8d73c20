package dev.idempotency.testing;

import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Properties;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * The PostgreSQL server of this JVM's tests; each test class uses a separate database.
 *
 * <p>An embedded server, unless the environment variable {@value #URL_VARIABLE} names another one by its JDBC URL, with
 * {@code user} and {@code password} as parameters of the URL. That user must be allowed to create databases.
 */
public final class TestPostgres {

    static final String URL_VARIABLE = "IDEMPOTENCY_TEST_POSTGRES_URL";

    private TestPostgres() {}

    /** Creates an empty database. */
    public static TestDatabase createDatabase() {
        String server = Server.URL;
        String name = "test_" + UUID.randomUUID().toString().replace("-", "");
        try (Connection connection = connect(server);
                Statement statement = connection.createStatement()) {
            statement.execute("create database " + name);
        } catch (SQLException ex) {
            throw new IllegalStateException("Could not create database " + name + " at " + server, ex);
        }
        return new TestDatabase(server, withDatabase(server, name), name);
    }

    /** Sets a long timeout: a pool with a short one changes the driver's limit for the whole JVM. */
    static Connection connect(String url) throws SQLException {
        Properties properties = new Properties();
        properties.setProperty("loginTimeout", "60");
        return DriverManager.getConnection(url, properties);
    }

    private static String withDatabase(String jdbcUrl, String database) {
        URI uri = URI.create(jdbcUrl.substring("jdbc:".length()));
        String query = (uri.getQuery() != null) ? "?" + uri.getQuery() : "";
        return "jdbc:" + uri.getScheme() + "://" + uri.getAuthority() + "/" + database + query;
    }

    private static final class Server {

        static final String URL = start();

        private static String start() {
            @Nullable String external = System.getenv(URL_VARIABLE);
            if (external != null && !external.isBlank()) {
                return external;
            }
            try {
                EmbeddedPostgres postgres = EmbeddedPostgres.builder()
                        .setServerConfig("max_connections", "200")
                        .setPGStartupWait(TestPostgresServer.STARTUP)
                        .start();
                return postgres.getJdbcUrl("postgres", "postgres");
            } catch (IOException ex) {
                throw new UncheckedIOException(ex);
            }
        }
    }
}
