package dev.idempotency.internal.database;

import dev.idempotency.MessageId;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.SQLTimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * MySQL and MariaDB: {@code insert ignore}.
 *
 * <p>Its row count is 0 for a row that was there, whether or not the driver counts found rows as affected ones, which
 * {@code on duplicate key update} cannot promise. What it would also ignore, a value that is too long, cannot happen:
 * {@link MessageId} is never longer than its column.
 */
final class MySqlDialect implements Dialect {

    private static final String CLAIM = """
            insert ignore into %s (consumer_id, message_id, record_topic, record_partition, record_offset, payload_digest)
            values (?, ?, ?, ?, ?, ?)
            """;

    /**
     * Locks the row as a writer at once. An {@code insert ignore} would lock it as a reader first, and two of them would
     * deadlock; an update that finds no row would lock the gap, which others insert into. The version comes last: what stands
     * before it is compared with the one in the row.
     */
    private static final String VERSION = """
            insert into %1$s (consumer_id, message_id, version_kind, version, record_topic, record_partition, record_offset,
                claim_token)
            values (?, ?, ?, ?, ?, ?, ?, ?)
            on duplicate key update
                previous_version = if(%2$s, version, previous_version),
                previous_at = if(%2$s, processed_at, previous_at),
                previous_topic = if(%2$s, record_topic, previous_topic),
                previous_partition = if(%2$s, record_partition, previous_partition),
                previous_offset = if(%2$s, record_offset, previous_offset),
                processed_at = if(%2$s, utc_timestamp(6), processed_at),
                record_topic = if(%2$s, values(record_topic), record_topic),
                record_partition = if(%2$s, values(record_partition), record_partition),
                record_offset = if(%2$s, values(record_offset), record_offset),
                claim_token = if(%2$s, values(claim_token), claim_token),
                version = if(%2$s, values(version), version)
            """;

    private static final String IF_NEWER = "version < values(version) and version_kind = values(version_kind)";

    private static final String ROW_ESTIMATE = """
            select table_rows
            from information_schema.tables
            where table_name = '%s' and table_schema = %s
            """;

    private static final String INBOX_COMPLETION = """
            insert into %s (
                consumer_id, message_id, message_type, record_topic, record_partition, record_offset, record_key,
                record_headers, payload, payload_size, payload_omitted, status, attempts, processed_at
            )
            values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'processed', 1, utc_timestamp(6))
            on duplicate key update status = 'processed', attempts = attempts + 1,
                processed_at = utc_timestamp(6), updated_at = utc_timestamp(6)
            """;

    private static final String RESULT_REPLACEMENT = """
            insert into %s (consumer_id, message_id, result_type, result, processed_at)
            select consumer_id, message_id, ?, ?, processed_at
            from %s
            where consumer_id = ? and message_id = ?
            on duplicate key update result_type = values(result_type), result = values(result),
                processed_at = values(processed_at)
            """;

    private static final int LOCK_WAIT_TIMEOUT = 1205;
    private static final int STATEMENT_TIMEOUT_MARIADB = 1969;
    private static final int STATEMENT_TIMEOUT_MYSQL = 3024;

    @Override
    public String vendor() {
        return "mysql";
    }

    @Override
    public String identifierQuote() {
        return "`";
    }

    @Override
    public ClaimStatement claimIn(String table) {
        return new SingleRowStatements.Claims(CLAIM.formatted(table), MySqlDialect::insert);
    }

    private static boolean insert(PreparedStatement statement) throws SQLException {
        return statement.executeUpdate() == 1;
    }

    @Override
    public VersionStatement versionsIn(String table) {
        return new SingleRowStatements.Versions(
                VERSION.formatted(table, IF_NEWER),
                table,
                MySqlDialect::insert,
                StoredVersion.previousColumns(this::secondsOf, now()),
                currentRead());
    }

    /** A row that refuses an insert has been locked by it in the same way. */
    @Override
    public String currentRead() {
        return " lock in share mode";
    }

    @Override
    public String rowEstimateOf(String table, @Nullable String schema) {
        return ROW_ESTIMATE.formatted(table, (schema != null) ? "'" + schema + "'" : "database()");
    }

    @Override
    public String now() {
        return "utc_timestamp(6)";
    }

    @Override
    public String secondsOf(String time) {
        return "timestampdiff(microsecond, '1970-01-01', " + time + ") * 0.000001";
    }

    @Override
    public String timeOfSeconds() {
        return "timestamp('1970-01-01') + interval ? second";
    }

    @Override
    public String inboxCompletionIn(String table) {
        return INBOX_COMPLETION.formatted(table);
    }

    @Override
    public String resultReplacementIn(String table, String processed) {
        return RESULT_REPLACEMENT.formatted(table, processed);
    }

    @Override
    public boolean isTimeout(SQLException ex) {
        return switch (ex.getErrorCode()) {
            case LOCK_WAIT_TIMEOUT, STATEMENT_TIMEOUT_MARIADB, STATEMENT_TIMEOUT_MYSQL -> true;
            default -> ex instanceof SQLTimeoutException;
        };
    }
}
