package dev.idempotency.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.idempotency.MessageId;
import dev.idempotency.RecordCoordinates;
import dev.idempotency.app.ForgetfulStore;
import dev.idempotency.app.TestApplication;
import dev.idempotency.inbox.Inbox;
import dev.idempotency.inbox.InboxQuery;
import dev.idempotency.testing.TestDatabase;
import dev.idempotency.testing.TestPostgres;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.util.List;
import java.util.Set;
import javax.sql.DataSource;
import org.flywaydb.core.Flyway;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Bean;
import org.springframework.core.NestedExceptionUtils;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

class SchemaIT {

    private TestDatabase database;
    private JdbcTemplate jdbc;

    @BeforeEach
    void createDatabase() {
        this.database = TestPostgres.createDatabase();
        this.jdbc = new JdbcTemplate(new DriverManagerDataSource(this.database.jdbcUrl()));
    }

    @AfterEach
    void dropDatabase() {
        this.database.close();
    }

    private List<String> tables() {
        return this.jdbc.queryForList(
                "select schemaname || '.' || tablename from pg_tables where schemaname not in ('pg_catalog', 'information_schema')",
                String.class);
    }

    private void assertThatClaimsWork(TestApplication app) {
        Claim claim = new Claim(new MessageId("consumer", "1"), new RecordCoordinates("topic", 0, 0));
        Set<MessageId> claimed = new TransactionTemplate(app.bean(PlatformTransactionManager.class))
                .execute(status -> app.bean(ProcessedMessageStore.class).claim(List.of(claim)));
        assertThat(claimed).hasSize(1);
    }

    @Test
    void anEmptyDatabaseIsMigratedOnceAndStartsAgain() {
        for (int i = 0; i < 2; i++) {
            TestApplication.start(this.database, List.of()).close();
        }
        assertThat(tables())
                .containsExactlyInAnyOrder(
                        "public.idempotency_processed",
                        "public.idempotency_inbox",
                        "public.idempotency_schema_history");
    }

    @Test
    void aScriptThatIsNotInTheHistoryRunsAtTheNextStart() {
        TestApplication.start(this.database, List.of()).close();
        this.jdbc.execute("drop table idempotency_inbox cascade");
        this.jdbc.execute("drop function idempotency_text, idempotency_json");
        this.jdbc.execute("delete from idempotency_schema_history where version = '2'");
        TestApplication.start(this.database, List.of()).close();
        assertThat(tables()).contains("public.idempotency_inbox");
    }

    @Test
    void aFullSchemaWithoutAnyHistoryIsMigratedToo() {
        this.jdbc.execute("create table application_table (id integer)");
        try (TestApplication app = TestApplication.start(this.database, List.of())) {
            assertThatClaimsWork(app);
        }
    }

    @Test
    void theApplicationsFlywayWithItsOwnFirstVersionRunsBeforeAndIsNotTouched() {
        List<String> properties =
                List.of("spring.flyway.enabled=true", "spring.flyway.locations=classpath:db/app-flyway");
        try (TestApplication app = TestApplication.start(this.database, properties)) {
            assertThat(app.context().getBeansOfType(Flyway.class)).hasSize(1);
            assertThatClaimsWork(app);
        }
        assertThat(this.jdbc.queryForList("select script from flyway_schema_history", String.class))
                .containsExactly("V1__application.sql");
        assertThat(tables()).contains("public.idempotency_processed", "public.application_table");
        TestApplication.start(this.database, properties).close();
    }

    @ParameterizedTest
    @ValueSource(strings = {"classpath:db", "classpath:db,classpath:dev"})
    void theApplicationsFlywayMayLookEverywhereWithoutFindingOurScripts(String locations) {
        for (String enabled : List.of("false", "true")) {
            TestApplication.start(
                            this.database,
                            List.of(
                                    "spring.flyway.enabled=true",
                                    "spring.flyway.locations=" + locations,
                                    "idempotency.enabled=" + enabled))
                    .close();
        }
        assertThat(this.jdbc.queryForList("select script from flyway_schema_history", String.class))
                .containsExactly("app-flyway/V1__application.sql");
    }

    @Test
    void theApplicationsLiquibaseRunsBefore() {
        List<String> properties = List.of(
                "spring.liquibase.enabled=true",
                "spring.liquibase.change-log=classpath:db/app-liquibase/changelog.sql");
        try (TestApplication app = TestApplication.start(this.database, properties)) {
            assertThatClaimsWork(app);
        }
        assertThat(tables()).contains("public.idempotency_processed", "public.application_table");
    }

    @Test
    void theTablesCanHaveASchemaOfTheirOwn() {
        try (TestApplication app = TestApplication.start(this.database, List.of("idempotency.schema.name=Idem_1"))) {
            assertThatClaimsWork(app);
            assertThat(app.bean(ProcessedMessageStore.class).find(List.of(new MessageId("consumer", "1"))))
                    .hasSize(1);
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
        assertThatIllegalArgumentException()
                .isThrownBy(() -> new Tables("x; drop table users"))
                .withMessageContaining("idempotency.schema.name")
                .withMessageContaining("x; drop table users");
    }

    @Test
    void validationFailsWithTheSqlThatIsMissingWhichThenSuffices() {
        List<String> properties = List.of("idempotency.schema.mode=validate");
        Throwable failure = catchThrowable(
                () -> TestApplication.start(this.database, properties).close());
        assertThat(failure).rootCause().hasMessageContaining("idempotency.schema.mode");
        String message = NestedExceptionUtils.getMostSpecificCause(failure).getMessage();
        this.jdbc.execute(message.substring(message.indexOf("create table")));
        try (TestApplication app = TestApplication.start(this.database, properties)) {
            assertThatClaimsWork(app);
        }
        assertThat(tables()).containsExactlyInAnyOrder("public.idempotency_processed", "public.idempotency_inbox");
    }

    @Test
    void withoutAModeTheTablesAreLeftAlone() {
        TestApplication.start(this.database, List.of("idempotency.schema.mode=none"))
                .close();
        assertThat(tables()).isEmpty();
    }

    @Test
    @ExtendWith(OutputCaptureExtension.class)
    void anUnknownModeIsRefusedWithTheOnesThereAre(CapturedOutput output) {
        Throwable failure =
                catchThrowable(() -> TestApplication.start(this.database, List.of("idempotency.schema.mode=guess"))
                        .close());
        assertThat(failure).isNotNull();
        assertThat(output).contains("idempotency.schema.mode", "guess", "MIGRATE", "VALIDATE", "NONE");
    }

    @Test
    void anUnknownDatabaseIsRefusedByItsNameWithTheRemedy() {
        assertThatIllegalStateException()
                .isThrownBy(() -> Dialects.of(databaseNamed("Oracle")))
                .withMessageContaining("'Oracle'")
                .withMessageContaining("PostgreSQL")
                .withMessageContaining(Dialect.class.getName());
    }

    @Test
    void whenTheUserDefinesTheirOwnStoreThenOursAndItsTablesBackOff() {
        TestApplication.start(this.database, List.of(), OwnStore.class).close();
        assertThat(tables()).isEmpty();
    }

    private DataSource databaseNamed(String product) {
        DataSource real = this.jdbc.getDataSource();
        return proxy(DataSource.class, (target, method, arguments) -> {
            Connection connection = (Connection) method.invoke(real, arguments);
            DatabaseMetaData metaData = connection.getMetaData();
            DatabaseMetaData renamed = proxy(
                    DatabaseMetaData.class,
                    (ignored, call, values) ->
                            call.getName().equals("getDatabaseProductName") ? product : call.invoke(metaData, values));
            return proxy(
                    Connection.class,
                    (ignored, call, values) ->
                            call.getName().equals("getMetaData") ? renamed : call.invoke(connection, values));
        });
    }

    private static <T> T proxy(Class<T> type, InvocationHandler handler) {
        return type.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, handler));
    }

    static class OwnStore {

        @Bean
        ProcessedMessageStore mine() {
            return new ForgetfulStore();
        }
    }
}
