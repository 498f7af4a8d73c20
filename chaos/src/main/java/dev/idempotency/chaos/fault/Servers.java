package dev.idempotency.chaos.fault;

import dev.idempotency.chaos.consumer.ConsumerApplication;
import dev.idempotency.testing.TestBroker;
import dev.idempotency.testing.TestPostgresServer;
import java.io.IOException;
import java.io.OutputStream;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.util.List;
import java.util.zip.GZIPOutputStream;
import org.postgresql.PGConnection;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DriverManagerDataSource;

/** A durable PostgreSQL and a broker, each behind a proxy for the consumers. The checker bypasses the database's proxy. */
public final class Servers implements AutoCloseable {

    /** More partitions than consumers in a group, so that each consumer has some. */
    private static final int PARTITIONS = 8;

    private final TestPostgresServer postgres;
    private final TestBroker broker;
    private final TcpProxy databaseProxy;
    private final TcpProxy brokerProxy;

    private Servers(TestPostgresServer postgres, TestBroker broker, TcpProxy databaseProxy, TcpProxy brokerProxy) {
        this.postgres = postgres;
        this.broker = broker;
        this.databaseProxy = databaseProxy;
        this.brokerProxy = brokerProxy;
    }

    public static Servers start() throws IOException {
        ServerSocket forBroker = TcpProxy.listen();
        TestPostgresServer postgres = TestPostgresServer.startDurable();
        // The broker advertises the proxy, so clients outside the consumers connect through it, too.
        TcpProxy[] brokerProxy = new TcpProxy[1];
        TestBroker broker = TestBroker.startBehindProxy(
                forBroker.getLocalPort(), port -> brokerProxy[0] = TcpProxy.start(forBroker, port));
        Servers servers =
                new Servers(postgres, broker, TcpProxy.start(TcpProxy.listen(), postgres.port()), brokerProxy[0]);
        ConsumerApplication.TABLES.forEach(servers.jdbc()::execute);
        broker.createTopic(ConsumerApplication.TOPIC, PARTITIONS);
        broker.createTopic(ConsumerApplication.DEAD_LETTERS, PARTITIONS);
        broker.createTopic(ConsumerApplication.OWN_DEAD_LETTERS, 1);
        return servers;
    }

    public int partitions() {
        return PARTITIONS;
    }

    public TestPostgresServer postgres() {
        return this.postgres;
    }

    public TestBroker broker() {
        return this.broker;
    }

    public TcpProxy databaseProxy() {
        return this.databaseProxy;
    }

    public TcpProxy brokerProxy() {
        return this.brokerProxy;
    }

    /** The database's URL for consumers, through the proxy. */
    public String consumersJdbcUrl(String instance) {
        return "jdbc:postgresql://localhost:%d/postgres?user=postgres&password=postgres&socketTimeout=10&connectTimeout=3&reWriteBatchedInserts=true&ApplicationName=%s"
                .formatted(this.databaseProxy.port(), instance);
    }

    /** The broker's address for all clients, through the proxy. */
    public String bootstrapServers() {
        return "localhost:" + this.brokerProxy.port();
    }

    /** The database without the proxy. */
    public JdbcTemplate jdbc() {
        return new JdbcTemplate(new DriverManagerDataSource(this.postgres.jdbcUrl()));
    }

    /** Writes all tables to files, for the analysis of a failed run. */
    public void keepTables(Path directory) throws IOException {
        List<String> tables = jdbc().queryForList(
                        "select table_name from information_schema.tables where table_schema = 'public' and table_type = 'BASE TABLE'",
                        String.class);
        try (Connection connection = DriverManager.getConnection(this.postgres.jdbcUrl())) {
            for (String table : tables) {
                try (OutputStream file =
                        new GZIPOutputStream(Files.newOutputStream(directory.resolve(table + ".csv.gz")))) {
                    connection
                            .unwrap(PGConnection.class)
                            .getCopyAPI()
                            .copyOut("copy " + table + " to stdout csv header", file);
                }
            }
        } catch (SQLException ex) {
            throw new IllegalStateException("The tables could not be kept", ex);
        }
    }

    @Override
    public void close() throws IOException {
        this.databaseProxy.close();
        this.brokerProxy.close();
        this.broker.close();
        this.postgres.close();
    }
}
