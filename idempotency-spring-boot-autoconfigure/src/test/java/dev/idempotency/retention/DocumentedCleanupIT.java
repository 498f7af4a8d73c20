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
import org.junit.jupiter.api.Test;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DriverManagerDataSource;

/** The SQL for pg_cron, as it stands in the documentation, with a stand-in for the extension that keeps the command. */
class DocumentedCleanupIT {

    @Test
    void theSqlForPgCronForgetsWhatTheCleanupWouldForgetAndUsesTheIndex() {
        try (TestDatabase database = TestPostgres.createDatabase()) {
            DataSource dataSource = new DriverManagerDataSource(database.jdbcUrl());
            new Schema(
                            new IdempotencyDatabase(dataSource, DialectResolver.resolve(dataSource), null),
                            SchemaMode.MIGRATE)
                    .afterPropertiesSet();
            JdbcTemplate jdbc = new JdbcTemplate(dataSource);
            fill(jdbc);
            String command = scheduledCommand(jdbc, Documentation.sqlWith("cron.schedule('idempotency-cleanup'"));

            assertThat(String.join("\n", jdbc.queryForList("explain " + command, String.class)))
                    .contains("idempotency_processed_cleanup", "Tid Scan")
                    .doesNotContain("Seq Scan on idempotency_processed");
            // Older than 7 days; for billing, than 30.
            assertThat(jdbc.update(command)).isEqualTo(3 + 3 + 10_000);
            assertThat(remaining(jdbc, "mailing")).containsExactly("mailing-6", "mailing-0");
            assertThat(remaining(jdbc, "billing")).containsExactly("billing-29", "billing-8", "billing-0");
            assertThat(remaining(jdbc, "down")).containsExactly("down-46", "down-40");
            // Back after pauses longer than 7 days, of which three in a row are passed over.
            assertThat(remaining(jdbc, "back")).containsExactly("back-46", "back-40", "back-20", "back-1");
            assertThat(remaining(jdbc, "rare")).containsExactly("rare-60", "rare-40", "rare-20", "rare-0");
            assertThat(jdbc.update(command)).isEqualTo(10_000);
        }
    }

    @Test
    void theSqlForTheInboxForgetsWhatItsCleanupWouldForgetAndUsesTheIndex() {
        try (TestDatabase database = TestPostgres.createDatabase()) {
            DataSource dataSource = new DriverManagerDataSource(database.jdbcUrl());
            new Schema(
                            new IdempotencyDatabase(dataSource, DialectResolver.resolve(dataSource), null),
                            SchemaMode.MIGRATE)
                    .afterPropertiesSet();
            JdbcTemplate jdbc = new JdbcTemplate(dataSource);
            String insert = """
                    insert into idempotency_inbox (consumer_id, message_id, status, record_topic, record_partition,
                        record_offset, record_headers, attempts, updated_at)
                    """;
            jdbc.update(insert + """
                    select 'busy', n::text, 'processed', 'topic', 0, n, '', 1,
                        current_timestamp - (n / 10000) * interval '1 day' - interval '1 hour'
                    from generate_series(0, 99999) as n
                    """);
            for (String row : List.of(
                    "failed-31",
                    "failed-29",
                    "forgotten-31",
                    "forgotten-29",
                    "replayed-31",
                    "replayed-29",
                    "processed-8")) {
                String[] parts = row.split("-");
                jdbc.update(
                        insert
                                + "values ('idle', ?, ?, 'topic', 0, 0, '', 1, current_timestamp - ? * interval '1 day')",
                        row,
                        parts[0],
                        Integer.valueOf(parts[1]));
            }
            jdbc.execute("analyze idempotency_inbox");
            String command = scheduledCommand(jdbc, Documentation.sqlWith("cron.schedule('idempotency-inbox-cleanup'"));

            assertThat(String.join("\n", jdbc.queryForList("explain " + command, String.class)))
                    .contains("idempotency_inbox_status", "Tid Scan")
                    .doesNotContain("Seq Scan on idempotency_inbox");
            assertThat(jdbc.update(command)).isEqualTo(10_000 + 3);
            assertThat(jdbc.update(command)).isEqualTo(10_000);
            assertThat(jdbc.update(command)).isEqualTo(10_000);
            assertThat(jdbc.update(command)).isOne();
            assertThat(jdbc.queryForList(
                            "select message_id from idempotency_inbox where consumer_id = 'idle' order by message_id",
                            String.class))
                    .containsExactly("failed-29", "forgotten-29", "replayed-29");
        }
    }

    private static void fill(JdbcTemplate jdbc) {
        String insert = """
                insert into idempotency_processed
                    (consumer_id, message_id, processed_at, record_topic, record_partition, record_offset)
                """;
        jdbc.update(insert + """
                select 'busy', n::text, current_timestamp - (n / 2000) * interval '1 day', 'topic', 0, n
                from generate_series(0, 100000) as n
                """);
        for (String row : List.of(
                "mailing-9",
                "mailing-8",
                "mailing-6",
                "mailing-0",
                "billing-31",
                "billing-29",
                "billing-8",
                "billing-0",
                "down-46",
                "down-40",
                "back-48",
                "back-46",
                "back-40",
                "back-20",
                "back-1",
                "rare-90",
                "rare-80",
                "rare-60",
                "rare-40",
                "rare-20",
                "rare-0")) {
            String[] parts = row.split("-");
            jdbc.update(
                    insert + "values (?, ?, current_timestamp - ? * interval '1 day', 'topic', 0, 0)",
                    parts[0],
                    row,
                    Integer.valueOf(parts[1]));
        }
        jdbc.execute("analyze idempotency_processed");
    }

    private static String scheduledCommand(JdbcTemplate jdbc, String sql) {
        jdbc.execute("create schema cron");
        jdbc.execute("create function cron.schedule(name text, schedule text, command text) returns text"
                + " language sql as 'select command'");
        return jdbc.queryForList(sql, String.class).get(0);
    }

    private static List<String> remaining(JdbcTemplate jdbc, String consumer) {
        return jdbc.queryForList(
                "select message_id from idempotency_processed where consumer_id = ? order by processed_at",
                String.class,
                consumer);
    }
}
