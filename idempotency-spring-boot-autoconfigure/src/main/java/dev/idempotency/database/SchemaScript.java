package dev.idempotency.database;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.springframework.core.io.ClassPathResource;
import org.springframework.jdbc.BadSqlGrammarException;
import org.springframework.jdbc.core.JdbcTemplate;

/**
 * One migration of the tables, and whether it has been made. It can be run again where it stopped half-way.
 *
 * @param file the script's name
 * @param table the table that it makes or changes
 * @param columns the columns of that table that it makes
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
                    PREFIX + "4__results.sql",
                    IdempotencyDatabase.RESULT,
                    "consumer_id, message_id, processed_at, result_type, result",
                    IdempotencyDatabase.RESULT),
            new SchemaScript(
                    PREFIX + "5__positions.sql",
                    IdempotencyDatabase.POSITION,
                    "consumer_id, record_topic, record_partition, topic_id, next_offset, previous_offset, processed_at",
                    IdempotencyDatabase.POSITION),
            new SchemaScript(
                    PREFIX + "6__versions.sql",
                    IdempotencyDatabase.VERSION,
                    "consumer_id, message_id, version_kind, version, processed_at, record_topic, record_partition,"
                            + " record_offset, previous_version, previous_at, previous_topic, previous_partition,"
                            + " previous_offset",
                    IdempotencyDatabase.VERSION),
            new SchemaScript(
                    PREFIX + "7__payload_digest.sql",
                    IdempotencyDatabase.PROCESSED,
                    "payload_digest",
                    IdempotencyDatabase.PROCESSED));

    /** Whether its table is there, with all columns; fails as the query does if the user may not read it. */
    boolean hasRun(IdempotencyDatabase database, JdbcTemplate jdbc) {
        return canSelect(this.columns, this.table, database, jdbc);
    }

    /** Whether it has run to its end. */
    boolean isComplete(IdempotencyDatabase database, JdbcTemplate jdbc) {
        return hasRun(database, jdbc) && canSelect("1", this.last, database, jdbc);
    }

    private static boolean canSelect(String columns, String table, IdempotencyDatabase database, JdbcTemplate jdbc) {
        String query = "select %s from %s where 1 = 0".formatted(columns, database.table(table));
        return findIfThere(database, () -> jdbc.queryForList(query)) != null;
    }

    /**
     * What a query finds, or {@code null} if there is not what it reads; fails as the query does if the user may not read
     * it. Some databases give up the whole transaction in which a query fails: this one is asked in one of its own.
     */
    static <T> @Nullable T findIfThere(IdempotencyDatabase database, Supplier<T> query) {
        try {
            return database.inTransaction(query);
        } catch (BadSqlGrammarException ex) {
            if (WriteProbe.denial(ex) != null) {
                throw ex;
            }
            return null;
        }
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
