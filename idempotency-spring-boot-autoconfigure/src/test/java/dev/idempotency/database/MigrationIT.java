package dev.idempotency.database;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatException;
import static org.assertj.core.api.Assumptions.assumeThat;

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
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.jdbc.datasource.DelegatingDataSource;
import org.springframework.transaction.support.TransactionTemplate;

/** Migrations that begin in the middle, on every database. */
class MigrationIT {

    private static final List<String> VERSIONS = SchemaScript.ALL.stream()
            .map(script -> String.valueOf(script.version()))
            .toList();

    private static String lastVersion() {
        return VERSIONS.get(VERSIONS.size() - 1);
    }

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
        connect(vendor);
        assertThatException().isThrownBy(() -> migrate(failingAt("idempotency_inbox_readable as")));
        migrate();
        assertThatAllIsThere();
    }

    @ParameterizedTest
    @MethodSource("vendors")
    void aCompleteHistoryIsReadWithoutFlyway(Vendor vendor) {
        connect(vendor);
        migrate();
        MigrationHistory history = new MigrationHistory(database(this.dataSource));
        assertThat(history.isComplete()).isTrue();
        SchemaScript latest = SchemaScript.ALL.get(SchemaScript.ALL.size() - 1);
        String forgetLatest = quoted("delete from %s where %s = ?", MigrationHistory.TABLE, "script");
        assertThat(this.jdbc.update(forgetLatest, latest.file())).isOne();
        assertThat(history.isComplete()).isFalse();
    }

    @ParameterizedTest
    @MethodSource("vendors")
    void aMigrationThatWasKilledHalfWayIsCompletedAtTheNextStart(Vendor vendor) {
        connect(vendor);
        assertThatException().isThrownBy(() -> migrate(failingAt("idempotency_inbox_readable as")));
        this.jdbc.update(quoted("delete from %s where %s = '2'", MigrationHistory.TABLE, "version"));
        migrate();
        assertThatAllIsThere();
    }

    @ParameterizedTest
    @MethodSource("vendors")
    void whatAnEarlierReleaseHasMigratedIsKnownByItsVersion(Vendor vendor) {
        connect(vendor);
        migrate();
        asWrittenByAnEarlierRelease();
        List<?> history = history();
        migrate();
        assertThat(history()).isEqualTo(history);
        assertThatAllIsThere();
    }

    @ParameterizedTest
    @MethodSource("vendors")
    void aMigrationThatStoppedHalfWayInAnEarlierReleaseIsCompleted(Vendor vendor) {
        connect(vendor);
        assertThatException().isThrownBy(() -> migrate(failingAt("idempotency_inbox_readable as")));
        asWrittenByAnEarlierRelease();
        migrate();
        assertThatAllIsThere();
    }

    private static List<String> versions() {
        return SchemaScript.ALL.stream()
                .map(script -> Integer.toString(script.version()))
                .toList();
    }

    @ParameterizedTest
    @MethodSource("vendors")
    void whatWasMadeByHandIsNotMadeAgain(Vendor vendor) {
        connect(vendor);
        runByHand(SchemaScript.ALL);
        migrate();
        assertThatAllIsThere();
        assertThat(appliedVersions()).containsExactly(lastVersion());
    }

    @ParameterizedTest
    @MethodSource("vendors")
    void whatWasMadeByHandInPartIsCompleted(Vendor vendor) {
        connect(vendor);
        runByHand(SchemaScript.ALL.subList(0, 1));
        migrate();
        assertThatAllIsThere();
        assertThat(appliedVersions()).isEqualTo(VERSIONS);
    }

    @ParameterizedTest
    @MethodSource("vendors")
    void aScriptThatWasRunByHandInPartIsRunAgain(Vendor vendor) {
        connect(vendor);
        runByHand(SchemaScript.ALL);
        this.jdbc.execute("drop view idempotency_inbox_readable");
        migrate();
        assertThatAllIsThere();
    }

    @ParameterizedTest
    @MethodSource("vendors")
    void aScriptThatWasRunByHandAfterAMigrationIsNoObstacle(Vendor vendor) {
        connect(vendor);
        migrate();
        this.jdbc.update(
                quoted("delete from %s where %s = '" + lastVersion() + "'", MigrationHistory.TABLE, "version"));
        migrate();
        assertThatAllIsThere();
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
                assertThat(appliedVersions())
                        .endsWith(VERSIONS.toArray(String[]::new))
                        .doesNotHaveDuplicates();
                this.dataSource.close();
            }
        } finally {
            threads.shutdownNow();
        }
    }

    /** MariaDB stands in for MySQL, of which there is no server to be had here. */
    @Test
    void theDigestOfPayloadsIsAddedOnceAlsoWhereColumnsCannotBeAddedIfTheyAreMissing() {
        assumeThat(TestMariaDb.createDatabase()).isPresent();
        connect(Vendor.MARIADB);
        migrate();
        this.jdbc.execute("alter table idempotency_processed drop column payload_digest");
        String script = SchemaScript.ALL.get(SchemaScript.ALL.size() - 1).sql(new MySqlDialect("mysql"));
        this.dataSource.setMaximumPoolSize(1);
        for (int run = 0; run < 2; run++) {
            new TransactionTemplate(new DataSourceTransactionManager(this.dataSource))
                    .executeWithoutResult(
                            status -> Stream.of(script.split(";\\s*(\\n|$)")).forEach(this.jdbc::execute));
            assertThatAllIsThere();
        }
    }

    @ParameterizedTest
    @MethodSource("vendors")
    void aPoolOfOneConnectionSuffices(Vendor vendor) {
        connect(vendor);
        try (HikariDataSource small = new HikariDataSource()) {
            small.setJdbcUrl(this.dataSource.getJdbcUrl());
            small.setMaximumPoolSize(1);
            small.setConnectionTimeout(20_000);
            migrate(small);
        }
        assertThatAllIsThere();
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
        assertThat(new MigrationHistory(database(this.dataSource)).isComplete()).isTrue();
    }

    private IdempotencyDatabase database(DataSource with) {
        return new IdempotencyDatabase(with, this.dialect, null);
    }

    private List<?> history() {
        return this.jdbc.queryForList(quoted("select * from %s", MigrationHistory.TABLE));
    }

    /** Versions in the order in which they were made, without the mark of a schema that was not empty. */
    private List<String> appliedVersions() {
        String versions = quoted(
                "select %s from %s where %s <> '0' order by %s",
                "version", MigrationHistory.TABLE, "version", "installed_rank");
        return this.jdbc.queryForList(versions, String.class);
    }

    private void asWrittenByAnEarlierRelease() {
        for (String name : List.of("1__processed_messages.sql", "2__inbox.sql")) {
            this.jdbc.update(
                    quoted(
                            "update %s set %s = ?, %s = 42 where %s like ?",
                            MigrationHistory.TABLE, "script", "checksum", "script"),
                    "V" + name,
                    "%" + name);
        }
    }

    private String quoted(String sql, Object... identifiers) {
        String quote = this.dialect.identifierQuote();
        return sql.formatted(
                Stream.of(identifiers).map(each -> quote + each + quote).toArray());
    }

    private void runByHand(List<SchemaScript> scripts) {
        for (SchemaScript script : scripts) {
            String sql = script.sql(this.dialect);
            // PostgreSQL takes a whole script, whose functions have statements inside.
            boolean whole = this.dialect instanceof PostgresDialect;
            Stream.of(whole ? new String[] {sql} : sql.split(";\\s*(\\n|$)")).forEach(this.jdbc::execute);
        }
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
