package dev.idempotency.internal.database;

import static dev.idempotency.app.Thrown.assertThrown;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.assertj.core.api.Assertions.entry;

import dev.idempotency.IdempotencyConfigurationException;
import dev.idempotency.MessageId;
import dev.idempotency.app.TestApplication;
import dev.idempotency.inbox.Inbox;
import dev.idempotency.inbox.InboxQuery;
import dev.idempotency.internal.store.StoreServer;
import dev.idempotency.store.ProcessedMessageStore;
import dev.idempotency.testing.TestDatabase;
import dev.idempotency.testing.TestPostgres;
import java.util.List;
import java.util.stream.Stream;
import javax.sql.DataSource;
import org.flywaydb.core.Flyway;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.flyway.autoconfigure.FlywayDataSource;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Bean;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DriverManagerDataSource;

class SchemaIT {

    private TestDatabase database;
    private JdbcTemplate jdbc;
    private String name;

    @BeforeEach
    void createDatabase() {
        this.database = TestPostgres.createDatabase();
        this.jdbc = new JdbcTemplate(new DriverManagerDataSource(this.database.jdbcUrl()));
        this.name = this.jdbc.queryForObject("select current_database()", String.class);
    }

    @AfterEach
    void dropDatabase() {
        List<String> roles = this.jdbc.queryForList(
                "select quote_ident(rolname) from pg_roles where rolname like ?", String.class, this.name + "\\_%");
        roles.forEach(role -> this.jdbc.execute("drop owned by " + role + " cascade; drop role " + role));
        this.database.close();
    }

    private TestApplication start(List<String> properties, Class<?>... classes) {
        return TestApplication.start(this.database, properties, classes);
    }

    private List<String> tables() {
        return this.jdbc.queryForList(
                "select schemaname || '.' || tablename from pg_tables where schemaname not in ('pg_catalog', 'information_schema')",
                String.class);
    }

    private static void assertThatClaimsWork(TestApplication app) {
        assertThat(app.bean(ProcessedMessageStore.class).takesWrites()).isTrue();
    }

    /** The application's Flyway scans broadly, and must not find the library's scripts. */
    @Test
    void theApplicationsFlywayWithItsOwnFirstVersionRunsBeforeAndIsNotTouched() {
        List<String> properties =
                List.of("spring.flyway.enabled=true", "spring.flyway.locations=classpath:db,classpath:dev");
        try (TestApplication app = start(properties)) {
            assertThat(app.context().getBeansOfType(Flyway.class)).hasSize(1);
            assertThatClaimsWork(app);
        }
        assertThat(this.jdbc.queryForList("select script from flyway_schema_history", String.class))
                .containsExactly("app-flyway/V1__application.sql");
        assertThat(tables()).contains("public.idempotency_processed", "public.application_table");
        start(properties).close();
    }

    /** Creates a role that may create tables and one that may use them, both named after the database. */
    private void createRoles(String grants) {
        this.jdbc.execute("""
                create role %1$s_owner login password 'owner';
                create role %1$s_app login password 'app';
                revoke create on schema public from public;
                grant create, usage on schema public to %1$s_owner;
                """.formatted(this.name) + grants.formatted(this.name));
    }

    private List<String> asApplication(String... properties) {
        return Stream.concat(
                        Stream.of(
                                "spring.datasource.url="
                                        + this.database.jdbcUrl().replaceFirst("\\?.*", ""),
                                "spring.datasource.username=" + this.name + "_app",
                                "spring.datasource.password=app",
                                "spring.flyway.enabled=true",
                                "spring.flyway.locations=classpath:db/app-flyway"),
                        Stream.of(properties))
                .toList();
    }

    @Test
    void aFlywayOfAnotherDatabaseDoesNotMigrateOurTables() {
        try (TestDatabase other = TestPostgres.createDatabase()) {
            List<String> properties = List.of(
                    "spring.flyway.enabled=true",
                    "spring.flyway.locations=classpath:db/app-flyway",
                    "spring.flyway.url=" + other.jdbcUrl());
            start(properties).close();
            assertThat(new JdbcTemplate(new DriverManagerDataSource(other.jdbcUrl()))
                            .queryForList("select tablename from pg_tables where schemaname = 'public'", String.class))
                    .contains("application_table")
                    .doesNotContain("idempotency_processed");
        }
    }

    @Test
    void theDataSourceOfTheApplicationsFlywayIsUsedAndItsTablesAreWhereTheApplicationLooks() {
        createRoles("""
                create schema %1$s_app;
                grant all on schema %1$s_app to %1$s_owner, %1$s_app;
                alter default privileges for role %1$s_owner grant select, insert, update, delete on tables to %1$s_app
                """);
        try (TestApplication app = start(asApplication(), OwnersDataSource.class)) {
            assertThatClaimsWork(app);
        }
        assertThat(this.jdbc.queryForMap(
                        "select schemaname, tableowner from pg_tables where tablename = 'idempotency_processed'"))
                .containsExactly(entry("schemaname", this.name + "_app"), entry("tableowner", this.name + "_owner"));
    }

    @Test
    @ExtendWith(OutputCaptureExtension.class)
    void aMissingCreatePrivilegeIsReportedWithTheScriptToRun(CapturedOutput output) {
        createRoles("");
        List<String> properties = asApplication("spring.flyway.enabled=false");
        Throwable failure = catchThrowable(() -> start(properties));
        assertThat(action(failure)).contains("spring.flyway.user");
        assertThat(output)
                .contains("APPLICATION FAILED TO START", "permission denied for schema public")
                .containsOnlyOnce("create table if not exists idempotency_processed")
                .doesNotContain("\tat ");
        String script = action(failure).substring(action(failure).indexOf("create table if"));
        this.jdbc.execute(script);
        try (TestApplication app = start(properties)) {
            assertThatClaimsWork(app);
        }
    }

    private static String action(Throwable failure) {
        Throwable cause = failure;
        while (!(cause instanceof IdempotencyConfigurationException)) {
            cause = cause.getCause();
        }
        return ((IdempotencyConfigurationException) cause).action();
    }

    @Test
    void aTableThatWasRestoredWithoutItsPrimaryKeyIsRefused() {
        DataSource dataSource = new DriverManagerDataSource(this.database.jdbcUrl());
        IdempotencyDatabase restored = StoreServer.tablesIn(dataSource);
        this.jdbc.execute("alter table idempotency_processed drop constraint idempotency_processed_pkey");
        for (SchemaMode mode : List.of(SchemaMode.MIGRATE, SchemaMode.VALIDATE)) {
            assertThrown(
                    IllegalStateException.class,
                    new Schema(restored, mode)::afterPropertiesSet,
                    "idempotency_processed lets a message be claimed twice");
        }
    }

    @Test
    void theApplicationsLiquibaseRunsBefore() {
        List<String> properties = List.of(
                "spring.liquibase.enabled=true",
                "spring.liquibase.change-log=classpath:db/app-liquibase/changelog.sql");
        try (TestApplication app = start(properties)) {
            assertThatClaimsWork(app);
        }
        assertThat(tables()).contains("public.idempotency_processed", "public.application_table");
    }

    @Test
    void theTablesCanHaveASchemaOfTheirOwn() {
        try (TestApplication app = start(List.of("idempotency.schema.name=Idem_1"))) {
            assertThatClaimsWork(app);
            assertThat(app.bean(ProcessedMessageStore.class).find(List.of(new MessageId("consumer", "1"))))
                    .isEmpty();
            this.jdbc.update("""
                    insert into "Idem_1".idempotency_inbox (consumer_id, message_id, status, record_topic,
                        record_partition, record_offset, record_headers, payload, attempts)
                    values ('consumer', '1', 'failed', 'topic', 0, 0, '', '{"amount": 12}', 1)
                    """);
            assertThat(app.bean(Inbox.class).find(InboxQuery.ALL).entries()).hasSize(1);
            assertThat(this.jdbc.queryForObject(
                            "select payload_json ->> 'amount' from \"Idem_1\".idempotency_inbox_readable",
                            String.class))
                    .isEqualTo("12");
        }
        assertThat(tables()).contains("Idem_1.idempotency_processed").noneMatch(table -> table.startsWith("public"));
    }

    @Test
    void aSchemaNameThatIsNoIdentifierIsRefused() {
        Throwable failure = catchThrowable(() -> start(List.of("idempotency.schema.name=x; drop table users")));
        assertThat(failure).hasStackTraceContaining("idempotency.schema.name 'x; drop table users'");
        assertThat(action(failure)).contains("letters, digits and underscores");
    }

    @Test
    void withoutAModeTheTablesAreLeftAlone() {
        start(List.of("idempotency.schema.mode=none")).close();
        assertThat(tables()).isEmpty();
    }

    /** Uses a database that reports missing privileges by table. */
    @Test
    void eachRightThatTheUserLacksIsNamed() {
        String url = "jdbc:h2:mem:user-rights";
        DataSource owner = new DriverManagerDataSource(url + ";DB_CLOSE_DELAY=-1", "sa", "");
        StoreServer.tablesIn(owner);
        new JdbcTemplate(owner).execute("create user \"THE-APP\" password ''");
        IdempotencyDatabase app = StoreServer.databaseOf(new DriverManagerDataSource(url, "the-app", ""));
        Schema schema = new Schema(app, SchemaMode.VALIDATE);
        for (String right : List.of("select", "insert", "update", "delete")) {
            assertThat(action(catchThrowable(schema::afterPropertiesSet)))
                    .as("without " + right)
                    .contains("grant select, insert, update, delete on idempotency_processed to \"THE-APP\";")
                    .contains("grant select, update on idempotency_lock to \"THE-APP\";");
            new JdbcTemplate(owner).execute("grant " + right + " on schema public to \"THE-APP\"");
        }
        assertThatCode(schema::afterPropertiesSet).doesNotThrowAnyException();
    }

    @Test
    void anUnknownDatabaseIsRefusedByItsNameWithTheRemedy() {
        assertThrown(
                IllegalStateException.class,
                () -> DialectResolver.resolve("Oracle", this.jdbc.getDataSource()),
                "'Oracle'",
                "PostgreSQL",
                "ProcessedMessageStore");
    }

    static class OwnersDataSource {

        @Bean(defaultCandidate = false)
        @FlywayDataSource
        DataSource owners(@Value("${spring.datasource.url}") String url) {
            String name = url.substring(url.lastIndexOf('/') + 1);
            return new DriverManagerDataSource(url, name + "_owner", "owner");
        }
    }
}
