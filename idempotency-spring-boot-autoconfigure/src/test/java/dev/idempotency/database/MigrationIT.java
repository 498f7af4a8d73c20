package dev.idempotency.database;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatException;

import com.zaxxer.hikari.HikariDataSource;
import dev.idempotency.store.StoreServer;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DelegatingDataSource;

/** Migrations that begin in the middle, on every database. */
@ExtendWith(OutputCaptureExtension.class)
class MigrationIT {

    private static final String HISTORY = "idempotency_schema_history";

    private HikariDataSource dataSource;
    private JdbcTemplate jdbc;
    private Dialect dialect;

    private void connect(StoreServer server) {
        this.dataSource = new HikariDataSource();
        this.dataSource.setJdbcUrl(server.emptyDatabase());
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

    @ParameterizedTest
    @EnumSource(StoreServer.class)
    void aMigrationThatStoppedHalfWayIsCompletedAtTheNextStart(StoreServer server) {
        for (boolean killed : new boolean[] {false, true}) {
            connect(server);
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
    @EnumSource(StoreServer.class)
    void whatWasMadeByHandIsAccepted(StoreServer server, CapturedOutput output) {
        connect(server);
        runByHand();
        migrate();
        assertThatAllIsThere();
        this.jdbc.execute("drop view idempotency_inbox_readable");
        migrate();
        assertThatAllIsThere();
        assertThat(appliedVersions()).containsExactly("1");
        assertThat(output).doesNotContain("could not be written for a trial");
    }

    @ParameterizedTest
    @EnumSource(StoreServer.class)
    void instancesThatStartAtTheSameTimeMigrateOnce(StoreServer server) throws Exception {
        int instances = 4;
        ExecutorService threads = Executors.newFixedThreadPool(instances);
        try {
            for (boolean empty : new boolean[] {true, false}) {
                connect(server);
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
}
