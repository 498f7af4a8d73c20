package dev.idempotency.internal.database;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatException;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import com.zaxxer.hikari.HikariDataSource;
import dev.idempotency.IdempotencyConfigurationException;
import dev.idempotency.internal.store.StoreServer;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.jdbc.core.JdbcTemplate;

/** Migrations that start from a partly migrated schema, on every database. */
@ExtendWith(OutputCaptureExtension.class)
class MigrationIT {

    private HikariDataSource dataSource;
    private JdbcTemplate jdbc;
    private Dialect dialect;

    private void connect(StoreServer server) {
        this.dataSource = new HikariDataSource();
        this.dataSource.setJdbcUrl(server.emptyDatabase());
        this.jdbc = new JdbcTemplate(this.dataSource);
        this.dialect = DialectResolver.resolve(this.dataSource);
        // The schema belongs to the application and is not empty.
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
            // The last statement of the script creates a view with this name.
            this.jdbc.execute("create table idempotency_inbox_readable (id integer)");
            assertThatException().isThrownBy(this::migrate);
            this.jdbc.execute("drop table idempotency_inbox_readable");
            if (killed) {
                this.jdbc.update(quoted("delete from ^idempotency_schema_history^ where ^version^ = '1'"));
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
    void whatIsGoneIsAskedForWithTheSqlThatMakesIt(StoreServer server) {
        connect(server);
        migrate();
        this.jdbc.execute("drop view idempotency_inbox_readable");
        this.jdbc.execute("drop table idempotency_inbox");
        boolean locks = server != StoreServer.POSTGRES;
        if (locks) {
            this.jdbc.update("delete from idempotency_lock where stripe = 1023");
        }
        assertThatExceptionOfType(IdempotencyConfigurationException.class)
                .isThrownBy(this::migrate)
                .withMessageContaining(
                        ": idempotency_inbox, %sidempotency_inbox_readable", locks ? "idempotency_lock, " : "")
                .satisfies(refusal -> assertThat(refusal.action()).startsWith("Run this script:"));
        runByHand();
        assertThatAllIsThere();
    }

    @ParameterizedTest
    @EnumSource(StoreServer.class)
    void instancesThatStartAtTheSameTimeMigrateOnce(StoreServer server) {
        for (boolean empty : new boolean[] {true, false}) {
            connect(server);
            if (empty) {
                this.jdbc.execute("drop table application_table");
            }
            this.dataSource.setMaximumPoolSize(20);
            List<CompletableFuture<Void>> starts = Stream.generate(
                            () -> CompletableFuture.runAsync(this::migrate, task -> new Thread(task).start()))
                    .limit(4)
                    .toList();
            assertThat(starts).allSatisfy(start -> assertThat(start).succeedsWithin(Duration.ofSeconds(60)));
            assertThatAllIsThere();
            assertThat(appliedVersions()).containsExactly("1");
            disconnect();
        }
    }

    private void migrate() {
        StoreServer.tablesIn(this.dataSource);
    }

    private void assertThatAllIsThere() {
        new Schema(StoreServer.databaseOf(this.dataSource), SchemaMode.VALIDATE).afterPropertiesSet();
        assertThat(this.jdbc.queryForList("select * from idempotency_inbox_readable"))
                .isEmpty();
    }

    /** Applied versions in order, without the baseline of a schema that was not empty. */
    private List<String> appliedVersions() {
        return this.jdbc.queryForList(
                quoted(
                        "select ^version^ from ^idempotency_schema_history^ where ^version^ <> '0' order by ^installed_rank^"),
                String.class);
    }

    private String quoted(String sql) {
        return sql.replace("^", this.dialect.identifierQuote());
    }

    private void runByHand() {
        String sql = Schema.script(this.dialect).strip();
        // PostgreSQL runs the script as a whole, as its functions contain statements.
        boolean whole = this.dialect instanceof PostgresDialect;
        Stream.of(whole ? new String[] {sql} : sql.split(";\\s*(\\n|$)")).forEach(this.jdbc::execute);
    }
}
