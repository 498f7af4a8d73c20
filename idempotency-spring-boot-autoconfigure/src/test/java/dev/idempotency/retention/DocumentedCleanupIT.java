package dev.idempotency.retention;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.build.Documentation;
import dev.idempotency.database.DialectResolver;
import dev.idempotency.database.IdempotencyDatabase;
import dev.idempotency.database.Schema;
import dev.idempotency.database.SchemaMode;
import dev.idempotency.testing.TestDatabase;
import dev.idempotency.testing.TestPostgres;
import java.util.List;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DriverManagerDataSource;

/** The SQL for pg_cron, as it stands in the documentation, with a stand-in for the extension that keeps the command. */
class DocumentedCleanupIT {

    private final TestDatabase database = TestPostgres.createDatabase();
    private final JdbcTemplate jdbc = new JdbcTemplate(new DriverManagerDataSource(this.database.jdbcUrl()));

    @BeforeEach
    void createTables() {
        DataSource dataSource = this.jdbc.getDataSource();
        new Schema(new IdempotencyDatabase(dataSource, DialectResolver.resolve(dataSource), null), SchemaMode.MIGRATE)
                .afterPropertiesSet();
    }

    @AfterEach
    void dropDatabase() {
        this.database.close();
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
        // Older than 7 days; for billing, than 30.
        assertThat(this.jdbc.update(command)).isEqualTo(3 + 3 + 10_000);
        assertThat(this.jdbc.queryForList(
                        "select message_id from idempotency_processed where consumer_id <> 'busy' order by consumer_id,"
                                + " processed_at",
                        String.class))
                // Back after pauses longer than 7 days, of which three in a row are passed over.
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

    /** Fills a table with many rows, and with some that are named after their consumer or status and their age in days. */
    private void fill(String insert, String many, String one, String rows) {
        this.jdbc.update(insert + many);
        for (String row : rows.split(" ")) {
            String[] parts = row.split("-");
            this.jdbc.update(insert + one, parts[0], row, Integer.valueOf(parts[1]));
        }
        this.jdbc.execute("analyze");
    }

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
