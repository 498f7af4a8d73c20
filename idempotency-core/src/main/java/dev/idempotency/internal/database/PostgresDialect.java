package dev.idempotency.internal.database;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.SortedSet;
import org.jspecify.annotations.Nullable;
import org.springframework.util.StringUtils;

/**
 * PostgreSQL: one statement whatever the number of messages.
 *
 * <p>The conflict is resolved by the database ({@code on conflict do nothing}). A duplicate-key error would poison the
 * transaction, so none is ever provoked.
 */
final class PostgresDialect implements Dialect {

    /** The higher of what the last analysis counted and what has come and gone since the server's start. */
    private static final String ROW_ESTIMATE = """
            select greatest(reltuples::bigint, pg_stat_get_live_tuples(oid), 0)
            from pg_class
            where oid = to_regclass('%s')
            """;

    private static final String INBOX_COMPLETION = """
            insert into %s as inbox (
                consumer_id, message_id, message_type, record_topic, record_partition, record_offset, record_key,
                record_headers, payload, payload_size, payload_omitted, status, attempts, processed_at, updated_at
            )
            values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'processed', 1, clock_timestamp(), clock_timestamp())
            on conflict (consumer_id, message_id) do update
            set status = 'processed', attempts = inbox.attempts + 1, processed_at = clock_timestamp(),
                updated_at = clock_timestamp()
            """;

    private static final String RESULT_REPLACEMENT = """
            insert into %s (consumer_id, message_id, result_type, result, processed_at)
            select consumer_id, message_id, cast(? as varchar), cast(? as text), processed_at
            from %s
            where consumer_id = ? and message_id = ?
            on conflict (consumer_id, message_id) do update
            set result_type = excluded.result_type, result = excluded.result, processed_at = excluded.processed_at
            """;

    /**
     * A key locks its hash, and shares the lock of its stripe. Many keys lock their stripes alone, as the server has room for so
     * many locks; they exclude single keys, too. Everyone locks stripes, which have two numbers, before hashes.
     */
    private static final String LOCK_STRIPES =
            "select pg_advisory_xact_lock(1229213008, stripe) from unnest('{%s}'::integer[]) as stripe";

    private static final String LOCK_HASHES =
            " union all select pg_advisory_xact_lock(hash) from unnest('{%s}'::bigint[]) as hash";

    /** Keys that are locked one by one. */
    private static final int MAX_HASHES = 64;

    private static final String QUERY_CANCELED = "57014";
    private static final String LOCK_NOT_AVAILABLE = "55P03";

    @Override
    public String vendor() {
        return "postgresql";
    }

    @Override
    public ClaimStatement claimIn(String table) {
        return new PostgresStatements.Claims(table);
    }

    @Override
    public PositionStatement positionsIn(String table) {
        return new PostgresStatements.Positions(table);
    }

    @Override
    public VersionStatement versionsIn(String table) {
        return new PostgresStatements.Versions(table, this);
    }

    @Override
    public String lock(String table, SortedSet<Long> hashes, SortedSet<Integer> stripes) {
        String ofStripes = LOCK_STRIPES.formatted(StringUtils.collectionToCommaDelimitedString(stripes));
        return (hashes.size() > MAX_HASHES)
                ? ofStripes
                : ofStripes.replace("xact_lock", "xact_lock_shared")
                        + LOCK_HASHES.formatted(StringUtils.collectionToCommaDelimitedString(hashes));
    }

    /** A statement sees the rows committed when it begins or, with a higher isolation, when the first one began. */
    @Override
    public boolean mayReadBeforeClaim() {
        return true;
    }

    @Override
    public TransactionCheck watch(Connection connection) throws SQLException {
        if (!PostgresTransactionState.isKnown(connection)) {
            return Dialect.super.watch(connection);
        }
        boolean begun = PostgresTransactionState.isOpen(connection);
        return same -> begun ? PostgresTransactionState.isOpen(same) : !PostgresTransactionState.isAborted(same);
    }

    @Override
    public String rowEstimateOf(String table, @Nullable String schema) {
        return ROW_ESTIMATE.formatted(qualify(table, schema));
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
        return QUERY_CANCELED.equals(ex.getSQLState()) || LOCK_NOT_AVAILABLE.equals(ex.getSQLState());
    }
}
