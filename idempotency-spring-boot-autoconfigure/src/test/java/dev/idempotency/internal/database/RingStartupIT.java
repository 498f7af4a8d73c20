package dev.idempotency.internal.database;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatException;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.idempotency.Claim;
import dev.idempotency.IdempotencyConfigurationException;
import dev.idempotency.MessageId;
import dev.idempotency.RecordCoordinates;
import dev.idempotency.app.TestApplication;
import dev.idempotency.retention.Cleanup;
import dev.idempotency.store.ProcessedMessageStore;
import dev.idempotency.testing.TestDatabase;
import dev.idempotency.testing.TestPostgres;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

/** Requirements of {@code idempotency.retention-mode=ring}, and applications that may not start beside such a one. */
class RingStartupIT {

    private static final String RING = "idempotency.retention-mode=ring";

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

    @Test
    void aNewApplicationUsesTheRingAtOnce() {
        String schema = "idempotency.schema.name=elsewhere";
        try (TestApplication app =
                TestApplication.start(this.database, List.of(RING, schema, "idempotency.retention=8d"))) {
            Claim claim = new Claim(
                    new MessageId("consumer", "017f22e2-79b0-7cc3-98c4-dc0c0c07398f"),
                    new RecordCoordinates("topic", 0, 0));
            TransactionTemplate transaction = new TransactionTemplate(app.bean(PlatformTransactionManager.class));
            ProcessedMessageStore store = app.bean(ProcessedMessageStore.class);
            int first =
                    transaction.execute(status -> store.claim(List.of(claim)).size());
            int again =
                    transaction.execute(status -> store.claim(List.of(claim)).size());
            assertThat(List.of(first, again)).containsExactly(1, 0);
            assertThat(app.bean(Cleanup.class).run().failure()).isNull();
        }
        assertThat(this.jdbc.queryForObject("select count(*) from only elsewhere.idempotency_processed", Integer.class))
                .isZero();
        assertThat(this.jdbc.queryForMap("select slots, width_ms, state from elsewhere.idempotency_ring"))
                .containsEntry("slots", 8)
                .containsEntry("width_ms", Duration.ofDays(2).toMillis())
                .containsEntry("state", "ring");
        IdempotencyDatabase asOneTable = new IdempotencyDatabase(
                new DriverManagerDataSource(this.database.jdbcUrl()), new PostgresDialect(), "elsewhere");
        assertThat(refusal(asOneTable, SchemaMode.MIGRATE))
                .hasMessageContaining("are a ring")
                .extracting(IdempotencyConfigurationException::action)
                .asString()
                .contains("idempotency.retention-mode=ring");
        assertThatException()
                .isThrownBy(
                        () -> TestApplication.start(this.database, List.of(RING, schema, "idempotency.ring.width=3d")))
                .withStackTraceContaining("8 slots of PT48H, but this application uses 8 slots of PT72H");
        TestApplication.start(this.database, List.of(RING, schema, "idempotency.retention=12d"))
                .close();
    }

    @Test
    void whereThereCanBeNoRingItIsRefused() {
        IdempotencyDatabase h2 = new IdempotencyDatabase(
                new DriverManagerDataSource("jdbc:h2:mem:ring"), new H2Dialect(), null, RetentionMode.RING);
        IdempotencyDatabase mysql = new IdempotencyDatabase(
                new DriverManagerDataSource("jdbc:h2:mem:ring"), new MySqlDialect(), null, RetentionMode.RING);
        for (IdempotencyDatabase other : List.of(h2, mysql)) {
            assertThat(refusal(other, SchemaMode.MIGRATE))
                    .hasMessageContaining(
                            "which needs PostgreSQL (not " + other.dialect().vendor() + ")")
                    .extracting(IdempotencyConfigurationException::action)
                    .asString()
                    .startsWith("Leave idempotency.retention-mode at 'delete', or ");
        }
        IdempotencyDatabase postgres = new IdempotencyDatabase(
                new DriverManagerDataSource(this.database.jdbcUrl()), new PostgresDialect(), null, RetentionMode.RING);
        assertThat(refusal(postgres, SchemaMode.NONE))
                .hasMessageContaining("a control row that is read at start-up (not idempotency.schema.mode 'none')");
        assertThat(refusal(postgres, SchemaMode.VALIDATE))
                .hasMessageContaining("idempotency_processed_7, idempotency_activity, idempotency_ring")
                .extracting(IdempotencyConfigurationException::action)
                .asString()
                .contains("create table if not exists idempotency_processed_7");
    }

    private static IdempotencyConfigurationException refusal(IdempotencyDatabase database, SchemaMode mode) {
        return catchThrowableOfType(IdempotencyConfigurationException.class, () -> new Schema(database, mode)
                .ringWidth(Duration.ofDays(1), false)
                .afterPropertiesSet());
    }

    @Test
    void aUserWhoMayNotTruncateSlotsIsToldTheGrants() {
        TestApplication.start(this.database, List.of(RING)).close();
        String user = this.jdbc.queryForObject("select current_database()", String.class) + "_app";
        this.jdbc.execute("create role %s login password 'app'".formatted(user));
        try {
            this.jdbc.execute("grant select, insert, update, delete on all tables in schema public to " + user);
            IdempotencyDatabase app = new IdempotencyDatabase(
                    new DriverManagerDataSource(this.database.jdbcUrl().replaceFirst("\\?.*", ""), user, "app"),
                    new PostgresDialect(),
                    null,
                    RetentionMode.RING);
            IdempotencyConfigurationException refusal = refusal(app, SchemaMode.VALIDATE);
            assertThat(refusal).hasMessageContaining("permission denied: truncate idempotency_processed_0");
            this.jdbc.execute(refusal.action().substring(refusal.action().indexOf("grant ")));
            assertThat(refusal(app, SchemaMode.VALIDATE)).isNull();
        } finally {
            this.jdbc.execute("drop owned by %1$s; drop role %1$s".formatted(user));
        }
    }
}
