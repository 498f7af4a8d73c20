package dev.idempotency.internal.database;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
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

    private static final String VERSION = """
            merge into %s as held
            using (values (cast(? as varchar), cast(? as varchar), cast(? as varchar), cast(? as numeric(38, 9)),
                    cast(? as varchar), cast(? as integer), cast(? as bigint), cast(? as bigint)))
                as claim (consumer_id, message_id, version_kind, version, record_topic, record_partition, record_offset,
                    claim_token)
            on held.consumer_id = claim.consumer_id and held.message_id = claim.message_id
            when matched and held.version < claim.version and held.version_kind = claim.version_kind then update
            set previous_version = held.version, previous_at = held.processed_at, previous_topic = held.record_topic,
                previous_partition = held.record_partition, previous_offset = held.record_offset,
                version = claim.version, processed_at = current_timestamp, record_topic = claim.record_topic,
                record_partition = claim.record_partition, record_offset = claim.record_offset,
                claim_token = claim.claim_token
            when not matched then insert (
                consumer_id, message_id, version_kind, version, record_topic, record_partition, record_offset, claim_token
            )
            values (claim.consumer_id, claim.message_id, claim.version_kind, claim.version, claim.record_topic,
                claim.record_partition, claim.record_offset, claim.claim_token)
            """;

    /** In upper case, as these names are, unless {@code DATABASE_TO_LOWER} is set. */
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
            merge into %s (consumer_id, message_id, result_type, result, processed_at)
            key (consumer_id, message_id)
            select consumer_id, message_id, cast(? as varchar), cast(? as character large object), processed_at
            from %s
            where consumer_id = ? and message_id = ?
            """;

    private static final String DUPLICATE_KEY = "23505";
    private static final int LOCK_TIMEOUT = 50200;
    private static final int STATEMENT_WAS_CANCELED = 57014;

    /** By the transaction's id: the driver releases a savepoint without asking the database. */
    @Override
    public TransactionCheck watch(Connection connection) throws SQLException {
        String id = transactionId(connection);
        return same -> id == null || id.equals(transactionId(same));
    }

    private static @Nullable String transactionId(Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery("select transaction_id()")) {
            return row.next() ? row.getString(1) : null;
        }
    }

    @Override
    public String vendor() {
        return "h2";
    }

    @Override
    public ClaimStatement claimIn(String table) {
        return new SingleRowStatements.Claims(CLAIM.formatted(table), H2Dialect::insert);
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
        // Of two that insert the same row, the second one fails, and then finds it.
        return new SingleRowStatements.Versions(
                VERSION.formatted(table),
                table,
                statement -> insert(statement) || insert(statement),
                StoredVersion.previousColumns(this::secondsOf, now()),
                currentRead());
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
