package dev.idempotency.store;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.springframework.core.io.ClassPathResource;

/**
 * One migration of the tables, and the query that fails where it has not been made.
 *
 * @param file the script's name
 * @param table the table that it makes
 * @param columns the columns of that table
 */
record SchemaScript(String file, String table, String columns) {

    /** All of them, oldest first. */
    static final List<SchemaScript> ALL = List.of(
            new SchemaScript(
                    "V1__processed_messages.sql",
                    Tables.PROCESSED,
                    "consumer_id, message_id, processed_at, record_topic, record_partition, record_offset"),
            new SchemaScript(
                    "V2__inbox.sql",
                    Tables.INBOX,
                    "consumer_id, message_id, status, message_type, record_topic, record_partition, record_offset,"
                            + " record_key, record_headers, payload, payload_size, payload_omitted, attempts, replays,"
                            + " last_error, received_at, processed_at, updated_at"));

    String probe(Tables tables, Dialect dialect) {
        return "select " + this.columns + " from " + tables.qualified(this.table, dialect) + " where 1 = 0";
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
        return "db/idempotency/" + dialect.vendor();
    }
}
