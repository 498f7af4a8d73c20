package dev.idempotency.database;

import java.sql.PreparedStatement;
import java.sql.SQLException;
import org.jspecify.annotations.Nullable;

/**
 * H2, in any of its modes: a duplicate key undoes one statement and leaves the transaction as it was, so the plain
 * insert is the claim.
 */
final class H2Dialect implements Dialect {

    private static final String CLAIM = """
            insert into %s (consumer_id, message_id, record_topic, record_partition, record_offset, payload_digest)
            values (?, ?, ?, ?, ?, ?)
            """;

    /** In upper case, as the database has these names, unless it is told to have all of them in lower case. */
    private static final String ROW_ESTIMATE = """
            select ROW_COUNT_ESTIMATE
            from INFORMATION_SCHEMA.TABLES
            where lower(TABLE_NAME) = '%s' and TABLE_SCHEMA = %s
            """;

    private static final String INBOX_COMPLETION = """
            merge into %s as inbox
            using (values (cast(? as varchar), cast(? as varchar))) as message (consumer_id, message_id)
            on inbox.consumer_id = message.consumer_id and inbox.message_id = message.message_id
            when matched then update
            set status = 'processed', attempts = inbox.attempts + 1, processed_at = current_timestamp,
                updated_at = current_timestamp
            when not matched then insert (
                consumer_id, message_id, message_type, record_topic, record_partition, record_offset, record_key,
                record_headers, payload, payload_size, payload_omitted, status, attempts, processed_at
            )
            values (message.consumer_id, message.message_id, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'processed', 1,
                current_timestamp)
            """;

    private static final String RESULT_REPLACEMENT = """
            merge into %s as kept
            using (
                select consumer_id, message_id, cast(? as varchar) as result_type,
                    cast(? as character large object) as result, processed_at
                from %s
                where consumer_id = ? and message_id = ?
            ) as result
            on kept.consumer_id = result.consumer_id and kept.message_id = result.message_id
            when matched then update
            set result_type = result.result_type, result = result.result, processed_at = result.processed_at
            when not matched then insert (consumer_id, message_id, result_type, result, processed_at)
            values (result.consumer_id, result.message_id, result.result_type, result.result, result.processed_at)
            """;

    private static final String DUPLICATE_KEY = "23505";
    private static final int LOCK_TIMEOUT = 50200;
    private static final int STATEMENT_WAS_CANCELED = 57014;

    /** The driver releases a savepoint without asking the database. */
    @Override
    public String transactionIdQuery() {
        return "select transaction_id()";
    }

    @Override
    public String vendor() {
        return "h2";
    }

    @Override
    public String identifierQuote() {
        return "\"";
    }

    @Override
    public ClaimStatement claimIn(String table) {
        return new SingleRowClaims(CLAIM, table, H2Dialect::insert, "");
    }

    private static boolean insert(PreparedStatement statement) throws SQLException {
        try {
            return statement.executeUpdate() == 1;
        } catch (SQLException ex) {
            if (DUPLICATE_KEY.equals(ex.getSQLState())) {
                return false;
            }
            throw ex;
        }
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
        return ROW_ESTIMATE.formatted(table, (schema != null) ? "'" + schema + "'" : "current_schema");
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
        return new SingleRowVersions(table, this, new H2Versions(table, H2Dialect::insert));
    }

    /** Not all modes know {@code limit}. */
    @Override
    public String rows(long offset, long limit) {
        return "offset " + offset + " rows fetch next " + limit + " rows only";
    }

    @Override
    public boolean isTimeout(SQLException ex) {
        return ex.getErrorCode() == LOCK_TIMEOUT || ex.getErrorCode() == STATEMENT_WAS_CANCELED;
    }
}
