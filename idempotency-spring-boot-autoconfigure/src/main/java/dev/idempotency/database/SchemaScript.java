package dev.idempotency.database;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.springframework.core.io.ClassPathResource;
import org.springframework.jdbc.core.JdbcTemplate;

/**
 * One migration of the tables, and the query that fails where it has not been made. It can be run again where it stopped
 * half-way.
 *
 * @param file the script's name
 * @param table the table that it makes
 * @param columns the columns of that table
 * @param last what it makes last
 */
record SchemaScript(String file, String table, String columns, String last) {

    /** What names begin with that neither a Flyway of the application nor anybody else takes for a migration. */
    static final String PREFIX = "idempotency_V";

    /** All of them, oldest first. */
    static final List<SchemaScript> ALL = List.of(
            new SchemaScript(
                    PREFIX + "1__processed_messages.sql",
                    IdempotencyDatabase.PROCESSED,
                    "consumer_id, message_id, processed_at, record_topic, record_partition, record_offset",
                    IdempotencyDatabase.PROCESSED),
            new SchemaScript(
                    PREFIX + "2__inbox.sql",
                    IdempotencyDatabase.INBOX,
                    "consumer_id, message_id, status, message_type, record_topic, record_partition, record_offset,"
                            + " record_key, record_headers, payload, payload_size, payload_omitted, attempts, replays,"
                            + " last_error, received_at, processed_at, updated_at",
                    IdempotencyDatabase.INBOX + "_readable"),
            new SchemaScript(
                    PREFIX + "3__inbox_starts.sql",
                    IdempotencyDatabase.INBOX_STARTS,
                    "consumer_id, record_topic, record_partition, record_offset, message_id, starts, started_at",
                    IdempotencyDatabase.INBOX_STARTS));

    String probe(IdempotencyDatabase database) {
        return "select " + this.columns + " from " + database.table(this.table) + " where 1 = 0";
    }

    /** The query that fails unless the script has run to its end. */
    String lastProbe(IdempotencyDatabase database) {
        return "select 1 from " + database.table(this.last) + " where 1 = 0";
    }

    /** Asks a query, in a transaction of its own: some databases give up the whole of one in which a query fails. */
    static void tryOut(String query, IdempotencyDatabase database, JdbcTemplate jdbc) {
        database.inTransaction(() -> {
            jdbc.query(query, row -> {});
            return true;
        });
    }

    /** Its place in the history of migrations. */
    int version() {
        return Integer.parseInt(this.file.substring(PREFIX.length(), this.file.indexOf("__")));
    }

    String sql(Dialect dialect) {
        try {
            return new ClassPathResource(location(dialect) + "/" + this.file)
                    .getContentAsString(StandardCharsets.UTF_8)
                    .strip();
        } catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }

    static String location(Dialect dialect) {
        return "dev/idempotency/schema/" + dialect.vendor();
    }
}
