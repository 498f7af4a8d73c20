package dev.idempotency.internal.database;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatException;

import com.zaxxer.hikari.HikariDataSource;
import dev.idempotency.internal.store.StoreServer;
import java.util.List;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.jdbc.core.JdbcTemplate;

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
            // The script makes a view of that name, last.
            this.jdbc.execute("create table idempotency_inbox_readable (id integer)");
            assertThatException().isThrownBy(this::migrate);
            this.jdbc.execute("drop table idempotency_inbox_readable");
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
    @EnumSource(value = StoreServer.class, mode = EnumSource.Mode.EXCLUDE, names = "POSTGRES")
    void aRowThatIsMissingAmongThoseThatAreLockedIsAskedFor(StoreServer server) {
        connect(server);
        migrate();
        this.jdbc.update("delete from idempotency_lock where stripe = 1023");
        assertThatException().isThrownBy(this::migrate).withMessageContaining("rows: idempotency_lock");
        runByHand();
        assertThatAllIsThere();
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
        new Schema(database(), SchemaMode.MIGRATE).afterPropertiesSet();
    }

    private void assertThatAllIsThere() {
        new Schema(database(), SchemaMode.VALIDATE).afterPropertiesSet();
        assertThat(this.jdbc.queryForList("select * from idempotency_inbox_readable"))
                .isEmpty();
    }

    private IdempotencyDatabase database() {
        return new IdempotencyDatabase(this.dataSource, this.dialect, null);
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
}
