package dev.idempotency.store;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.Claim;
import dev.idempotency.MessageId;
import dev.idempotency.RecordCoordinates;
import dev.idempotency.build.Documentation;
import dev.idempotency.database.DialectResolver;
import dev.idempotency.database.IdempotencyDatabase;
import dev.idempotency.database.Schema;
import dev.idempotency.database.SchemaMode;
import dev.idempotency.testing.TestDatabase;
import dev.idempotency.testing.TestPostgres;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

/** The SQL of the documentation that carries ids over from the tables of others. */
class CarriedOverIdsIT {

    private final TestDatabase server = TestPostgres.createDatabase();
    private final DriverManagerDataSource dataSource = new DriverManagerDataSource(this.server.jdbcUrl());
    private final JdbcTemplate jdbc = new JdbcTemplate(this.dataSource);
    private final IdempotencyDatabase database =
            new IdempotencyDatabase(this.dataSource, DialectResolver.resolve(this.dataSource), null);
    private final JdbcProcessedMessageStore store = new JdbcProcessedMessageStore(this.database, Duration.ofSeconds(5));

    @BeforeEach
    void migrate() {
        new Schema(this.database, SchemaMode.MIGRATE).afterPropertiesSet();
    }

    @AfterEach
    void close() {
        this.server.close();
    }

    @Test
    void idsOfATableThatWasWrittenByHandAreKnown() {
        String tooLong = "x".repeat(300);
        this.jdbc.execute("create table processed_messages (message_id text primary key, processed_at timestamptz,"
                + " consumer_group text default 'billing')");
        this.jdbc.update("insert into processed_messages values ('4711', now() - interval '2 days')");
        this.jdbc.update("insert into processed_messages values (?, now())", tooLong);
        this.jdbc.update("insert into processed_messages values ('4712', now(), 'mailing')");

        this.jdbc.execute(Documentation.sqlWith("encode(sha256(convert_to(message_id"));

        assertThat(isNew("4711")).isFalse();
        assertThat(MessageIdText.idsNamed("billing", tooLong))
                .anySatisfy(id -> assertThat(isNew(id.value())).isFalse());
        assertThat(isNew("4712")).isTrue();
        assertThat(ageOf("4711")).isGreaterThan(Duration.ofHours(47));
    }

    @Test
    void idsOfSpringIntegrationAreKnown() {
        this.jdbc.execute("create table int_metadata_store (metadata_key varchar(255) not null,"
                + " metadata_value varchar(4000), region varchar(100) not null)");
        long yesterday = System.currentTimeMillis() - Duration.ofDays(1).toMillis();
        this.jdbc.update("insert into int_metadata_store values ('4711', ?, 'DEFAULT')", String.valueOf(yesterday));
        this.jdbc.update("insert into int_metadata_store values ('4712', 'a file', 'files')");

        this.jdbc.execute(Documentation.sqlWith("from int_metadata_store"));

        assertThat(isNew("4711")).isFalse();
        assertThat(isNew("4712")).isTrue();
        assertThat(ageOf("4711")).isBetween(Duration.ofHours(23), Duration.ofHours(25));
    }

    @Test
    void idsOfEventuateTramAreKnown() {
        this.jdbc.execute("create schema eventuate");
        this.jdbc.execute("create table eventuate.received_messages (consumer_id varchar(1000),"
                + " message_id varchar(1000), creation_time bigint, published smallint default 0)");
        long yesterday = System.currentTimeMillis() - Duration.ofDays(1).toMillis();
        this.jdbc.update("insert into eventuate.received_messages values ('billing', '4711', ?, 0)", yesterday);
        this.jdbc.update("insert into eventuate.received_messages values ('mailing', '4712', ?, 0)", yesterday);

        this.jdbc.execute(Documentation.sqlWith("from eventuate.received_messages"));

        assertThat(isNew("4711")).isFalse();
        assertThat(isNew("4712")).isTrue();
        assertThat(ageOf("4711")).isBetween(Duration.ofHours(23), Duration.ofHours(25));
    }

    @Test
    void nothingIsLeftAfterUninstalling() {
        this.jdbc.execute(Documentation.sqlWith("drop table"));

        assertThat(this.jdbc.queryForList("""
                select relname from pg_class where relname like 'idempotency%'
                union all
                select proname from pg_proc where proname like 'idempotency%'
                """, String.class)).isEmpty();
    }

    private boolean isNew(String id) {
        List<Claim> claim = List.of(new Claim(new MessageId("billing", id), new RecordCoordinates("payments", 0, 7)));
        Set<MessageId> claimed = new TransactionTemplate(new JdbcTransactionManager(this.dataSource))
                .execute(status -> this.store.claim(claim));
        return !claimed.isEmpty();
    }

    private Duration ageOf(String id) {
        MessageId known = new MessageId("billing", id);
        return this.store.find(List.of(known)).get(known).age();
    }
}
