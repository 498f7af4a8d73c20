package dev.idempotency.internal.store;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.Claim;
import dev.idempotency.MessageId;
import dev.idempotency.RecordCoordinates;
import dev.idempotency.build.Documentation;
import dev.idempotency.internal.database.DialectResolver;
import dev.idempotency.internal.database.IdempotencyDatabase;
import dev.idempotency.internal.database.RetentionMode;
import dev.idempotency.internal.database.Schema;
import dev.idempotency.internal.database.SchemaMode;
import dev.idempotency.testing.TestDatabase;
import dev.idempotency.testing.TestPostgres;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

/** The SQL of the documentation, which imports ids from tables of other libraries and cleans up with pg_cron. */
class DocumentedSqlIT {

    private final TestDatabase server = TestPostgres.createDatabase();
    private final DriverManagerDataSource dataSource = new DriverManagerDataSource(this.server.jdbcUrl());
    private final JdbcTemplate jdbc = new JdbcTemplate(this.dataSource);
    private final JdbcProcessedMessageStore store =
            new JdbcProcessedMessageStore(StoreServer.tablesIn(this.dataSource), Duration.ofSeconds(5));

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

    /** Tables of Spring Integration and Eventuate Tram, with yesterday's time in milliseconds. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '"', textBlock = """
            int_metadata_store | metadata_key text, metadata_value text, region text | '4711', %d, 'DEFAULT' | '4712', %d, 'files'
            eventuate.received_messages | consumer_id text, message_id text, creation_time bigint | 'billing', '4711', %d | 'mailing', '4712', %d
            """)
    void idsOfOtherLibrariesAreKnown(String table, String columns, String known, String foreign) {
        long yesterday = System.currentTimeMillis() - Duration.ofDays(1).toMillis();
        this.jdbc.execute("create schema eventuate; create table %s (%s)".formatted(table, columns));
        for (String row : List.of(known, foreign)) {
            this.jdbc.update("insert into %s values (%s)".formatted(table, row.formatted(yesterday)));
        }

        this.jdbc.execute(Documentation.sqlWith("from " + table));

        assertThat(isNew("4711")).isFalse();
        assertThat(isNew("4712")).isTrue();
        assertThat(ageOf("4711")).isBetween(Duration.ofHours(23), Duration.ofHours(25));
    }

    @ParameterizedTest
    @EnumSource(RetentionMode.class)
    void nothingIsLeftAfterUninstalling(RetentionMode mode) {
        IdempotencyDatabase database =
                new IdempotencyDatabase(this.dataSource, DialectResolver.resolve(this.dataSource), null, mode);
        new Schema(database, SchemaMode.MIGRATE)
                .ringWidth(RingServer.WIDTH, false)
                .afterPropertiesSet();

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

    @Test
    void theSqlForPgCronForgetsWhatTheCleanupWouldForgetAndUsesTheIndex() {
        fill(
                "insert into idempotency_processed (consumer_id, message_id, processed_at, record_topic,"
                        + " record_partition, record_offset)",
                "select 'busy', n::text, current_timestamp - (n / 2000) * interval '1 day', 'topic', 0, n"
                        + " from generate_series(0, 100000) as n",
                "values (?, ?, current_timestamp - ? * interval '1 day', 'topic', 0, 0)",
                "mailing-9 mailing-8 mailing-6 mailing-0 billing-31 billing-29 billing-8 billing-0 down-46 down-40 back-48"
                        + " back-46 back-40 back-20 back-1 rare-90 rare-80 rare-60 rare-40 rare-20 rare-0");
        String command = scheduledCommand("pg-cron-processed.sql", "idempotency_processed");
        // Older than 7 days, or 30 days for billing.
        assertThat(this.jdbc.update(command)).isEqualTo(3 + 3 + 10_000);
        assertThat(this.jdbc.queryForList(
                        "select message_id from idempotency_processed where consumer_id <> 'busy' order by consumer_id,"
                                + " processed_at",
                        String.class))
                // Up to three consecutive pauses longer than 7 days are skipped.
                .isEqualTo(List.of(
                        ("back-46 back-40 back-20 back-1 billing-29 billing-8 billing-0 down-46 down-40 mailing-6"
                                        + " mailing-0 rare-60 rare-40 rare-20 rare-0")
                                .split(" ")));
        assertThat(this.jdbc.update(command)).isEqualTo(10_000);
    }

    @Test
    void theSqlForTheInboxForgetsWhatItsCleanupWouldForgetAndUsesTheIndex() {
        fill(
                "insert into idempotency_inbox (consumer_id, status, message_id, updated_at, record_topic,"
                        + " record_partition, record_offset, record_headers, attempts)",
                "select 'busy', 'processed', n::text, current_timestamp - (n / 10000) * interval '1 day' - interval '1 hour',"
                        + " 'topic', 0, n, '', 1 from generate_series(0, 99999) as n",
                "values ('idle', ?, ?, current_timestamp - ? * interval '1 day', 'topic', 0, 0, '', 1)",
                "failed-31 failed-29 forgotten-31 forgotten-29 replayed-31 replayed-29 processed-8");
        String command = scheduledCommand("pg-cron-inbox.sql", "idempotency_inbox");
        assertThat(List.of(
                        this.jdbc.update(command),
                        this.jdbc.update(command),
                        this.jdbc.update(command),
                        this.jdbc.update(command)))
                .containsExactly(10_000 + 3, 10_000, 10_000, 1);
        assertThat(this.jdbc.queryForList(
                        "select message_id from idempotency_inbox where consumer_id = 'idle' order by message_id",
                        String.class))
                .containsExactly("failed-29", "forgotten-29", "replayed-29");
    }

    /** Fills a table with many rows, and with some named after their consumer or status and their age in days. */
    private void fill(String insert, String many, String one, String rows) {
        this.jdbc.update(insert + many);
        for (String row : rows.split(" ")) {
            String[] parts = row.split("-");
            this.jdbc.update(insert + one, parts[0], row, Integer.valueOf(parts[1]));
        }
        this.jdbc.execute("analyze");
    }

    /** Returns the command that a script schedules, with a stub of the extension. */
    private String scheduledCommand(String file, String table) {
        this.jdbc.execute("create schema cron");
        this.jdbc.execute("create function cron.schedule(name text, schedule text, command text) returns text"
                + " language sql as 'select command'");
        String command = this.jdbc
                .queryForList(Documentation.read("docs/sql/" + file), String.class)
                .get(0);
        assertThat(String.join("\n", this.jdbc.queryForList("explain " + command, String.class)))
                .contains("Index Scan", table, "Tid Scan")
                .doesNotContain("Seq Scan on " + table);
        return command;
    }
}
