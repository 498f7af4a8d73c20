package dev.idempotency.database;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatException;

import com.zaxxer.hikari.HikariDataSource;
import dev.idempotency.testing.TestDatabase;
import dev.idempotency.testing.TestMariaDb;
import dev.idempotency.testing.TestPostgres;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DelegatingDataSource;

/** Migrations that begin in the middle, on every database. */
class MigrationIT {

    private static final String HISTORY = "idempotency_schema_history";

    private static final List<TestDatabase> DATABASES = new ArrayList<>();

    private HikariDataSource dataSource;
    private JdbcTemplate jdbc;
    private Dialect dialect;

    private void connect(Vendor vendor) {
        this.dataSource = new HikariDataSource();
        this.dataSource.setJdbcUrl(vendor.emptyDatabase());
        this.jdbc = new JdbcTemplate(this.dataSource);
        this.dialect = DialectResolver.resolve(this.dataSource);
        // The schema is the application's, and not empty.
        this.jdbc.execute("create table application_table (id integer)");
    }

    @AfterEach
    void disconnect() {
        if (this.dataSource != null) {
            this.dataSource.close();
        }
    }

    @AfterAll
    static void dropDatabases() {
        DATABASES.forEach(TestDatabase::close);
    }

    static Stream<Vendor> vendors() {
        return Stream.of(Vendor.values())
                .filter(vendor ->
                        vendor != Vendor.MARIADB || TestMariaDb.createDatabase().isPresent());
    }

    @ParameterizedTest
    @MethodSource("vendors")
    void aMigrationThatStoppedHalfWayIsCompletedAtTheNextStart(Vendor vendor) {
        for (boolean killed : new boolean[] {false, true}) {
            connect(vendor);
            assertThatException().isThrownBy(() -> migrate(failingAt("idempotency_inbox_readable as")));
            if (killed) {
                this.jdbc.update(quoted("delete from %s where %s = '1'", HISTORY, "version"));
            }
            migrate();
            assertThatAllIsThere();
            disconnect();
        }
    }

    @ParameterizedTest
    @MethodSource("vendors")
    void whatWasMadeByHandIsAccepted(Vendor vendor) {
        connect(vendor);
        runByHand();
        migrate();
        assertThatAllIsThere();
        this.jdbc.execute("drop view idempotency_inbox_readable");
        migrate();
        assertThatAllIsThere();
        assertThat(appliedVersions()).containsExactly("1");
    }

    @ParameterizedTest
    @MethodSource("vendors")
    void aPoolOfOneConnectionSufficesOnceTheTablesAreThere(Vendor vendor) {
        connect(vendor);
        runByHand();
        try (HikariDataSource small = new HikariDataSource()) {
            small.setJdbcUrl(this.dataSource.getJdbcUrl());
            small.setMaximumPoolSize(1);
            for (SchemaMode mode : List.of(SchemaMode.MIGRATE, SchemaMode.VALIDATE)) {
                new Schema(database(small), mode).afterPropertiesSet();
            }
        }
    }

    @ParameterizedTest
    @MethodSource("vendors")
    void instancesThatStartAtTheSameTimeMigrateOnce(Vendor vendor) throws Exception {
        int instances = 4;
        ExecutorService threads = Executors.newFixedThreadPool(instances);
        try {
            for (boolean empty : new boolean[] {true, false}) {
                connect(vendor);
                if (empty) {
                    this.jdbc.execute("drop table application_table");
                }
                this.dataSource.setMaximumPoolSize(20);
                CyclicBarrier start = new CyclicBarrier(instances);
                List<Future<?>> starts = Stream.generate(() -> threads.<Object>submit(() -> {
                            start.await();
                            migrate();
                            return null;
                        }))
                        .limit(instances)
                        .<Future<?>>map(future -> future)
                        .toList();
                for (Future<?> each : starts) {
                    each.get(60, TimeUnit.SECONDS);
                }
                assertThatAllIsThere();
                assertThat(appliedVersions()).containsExactly("1");
                this.dataSource.close();
            }
        } finally {
            threads.shutdownNow();
        }
    }

    private void migrate() {
        migrate(this.dataSource);
    }

    private void migrate(DataSource with) {
        new Schema(database(with), SchemaMode.MIGRATE).afterPropertiesSet();
    }

    private void assertThatAllIsThere() {
        new Schema(database(this.dataSource), SchemaMode.VALIDATE).afterPropertiesSet();
        assertThat(this.jdbc.queryForList("select * from idempotency_inbox_readable"))
                .isEmpty();
    }

    private IdempotencyDatabase database(DataSource with) {
        return new IdempotencyDatabase(with, this.dialect, null);
    }

    /** Versions in the order in which they were made, without the mark of a schema that was not empty. */
    private List<String> appliedVersions() {
        String versions = quoted(
                "select %s from %s where %s <> '0' order by %s", "version", HISTORY, "version", "installed_rank");
        return this.jdbc.queryForList(versions, String.class);
    }

    private String quoted(String sql, Object... identifiers) {
        String quote = this.dialect.identifierQuote();
        return sql.formatted(
                Stream.of(identifiers).map(each -> quote + each + quote).toArray());
    }

    private void runByHand() {
        String sql = Schema.script(this.dialect).strip();
        // PostgreSQL takes a whole script, whose functions have statements inside.
        boolean whole = this.dialect instanceof PostgresDialect;
        Stream.of(whole ? new String[] {sql} : sql.split(";\\s*(\\n|$)")).forEach(this.jdbc::execute);
    }

    /** The data source, which refuses statements that contain the text. */
    private DataSource failingAt(String text) {
        return new DelegatingDataSource(this.dataSource) {
            @Override
            public Connection getConnection() throws SQLException {
                Connection connection = super.getConnection();
                return proxy(Connection.class, (call, arguments) -> {
                    Object result = call.invoke(connection, arguments);
                    return call.getName().equals("createStatement") ? refusing(text, result) : result;
                });
            }
        };
    }

    private static Statement refusing(String text, Object statement) {
        return proxy(Statement.class, (call, arguments) -> {
            if (arguments != null && arguments[0] instanceof String sql && sql.contains(text)) {
                throw new SQLException("refused by the test");
            }
            return call.invoke(statement, arguments);
        });
    }

    private interface Calls {

        Object answer(Method call, Object[] arguments) throws Exception;
    }

    private static <T> T proxy(Class<T> type, Calls calls) {
        InvocationHandler handler = (ignored, call, arguments) -> {
            try {
                return calls.answer(call, arguments);
            } catch (InvocationTargetException ex) {
                throw ex.getTargetException();
            }
        };
        return type.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, handler));
    }

    enum Vendor {
        POSTGRESQL {
            @Override
            String emptyDatabase() {
                TestDatabase database = TestPostgres.createDatabase();
                DATABASES.add(database);
                return database.jdbcUrl();
            }
        },
        MARIADB {
            @Override
            String emptyDatabase() {
                return TestMariaDb.createDatabase().orElseThrow();
            }
        },
        H2 {
            @Override
            String emptyDatabase() {
                return "jdbc:h2:mem:" + UUID.randomUUID() + ";DB_CLOSE_DELAY=-1";
            }
        };

        abstract String emptyDatabase();
    }
}
