package dev.idempotency.database;

import dev.idempotency.MessageId;
import java.sql.SQLException;
import java.sql.SQLTimeoutException;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.core.JdbcTemplate;

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
            values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'processed', 1, current_timestamp(6))
            on duplicate key update status = 'processed', attempts = attempts + 1,
                processed_at = current_timestamp(6), updated_at = current_timestamp(6)
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

    private final String vendor;

    MySqlDialect(String vendor) {
        this.vendor = vendor;
    }

    @Override
    public String vendor() {
        return this.vendor;
    }

    @Override
    public String identifierQuote() {
        return "`";
    }

    /** A row that refuses an insert has been locked by it in the same way. */
    @Override
    public ClaimStatement claimIn(String table) {
        return new SingleRowClaims(CLAIM, table, statement -> statement.executeUpdate() == 1, " lock in share mode");
    }

    @Override
    public PurgeStatement purgeExpiredIn(String table) {
        return purgeExpiredIn(table, table);
    }

    @Override
    public PurgeStatement purgeExpiredIn(String table, String processed) {
        return StepwisePurgeStatement.ofExpired(table, processed, this);
    }

    @Override
    public PurgeStatement purgeAbandonedIn(String table) {
        return purgeAbandonedIn(table, table);
    }

    @Override
    public PurgeStatement purgeAbandonedIn(String table, String processed) {
        return StepwisePurgeStatement.ofAbandoned(table, processed, this);
    }

    @Override
    public String rowEstimateOf(String table, @Nullable String schema) {
        return ROW_ESTIMATE.formatted(table, (schema != null) ? "'" + schema + "'" : "database()");
    }

    @Override
    public String now() {
        return "current_timestamp(6)";
    }

    /** Of a column this is what is stored; other functions go by the local time of the session. */
    @Override
    public String secondsOf(String time) {
        return "unix_timestamp(" + time + ")";
    }

    /** The present has a local time that may have been an hour ago, too. */
    @Override
    public String secondsOfNow() {
        return "unix_timestamp() + microsecond(" + now() + ") * 0.000001";
    }

    /** Within what the columns can hold: beyond that there is no time. */
    @Override
    public String timeOfSeconds() {
        return "from_unixtime(least(greatest(?, 1), 2147483647))";
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
    public VersionStatement versionsIn(String table) {
        return new SingleRowVersions(table, this, new MySqlVersions(table));
    }

    @Override
    public @Nullable Long maxStatementSize(JdbcTemplate jdbc) {
        return jdbc.queryForObject("select @@max_allowed_packet", Long.class);
    }

    @Override
    public boolean isTimeout(SQLException ex) {
        return switch (ex.getErrorCode()) {
            case LOCK_WAIT_TIMEOUT, STATEMENT_TIMEOUT_MARIADB, STATEMENT_TIMEOUT_MYSQL -> true;
            default -> ex instanceof SQLTimeoutException;
        };
    }
}
