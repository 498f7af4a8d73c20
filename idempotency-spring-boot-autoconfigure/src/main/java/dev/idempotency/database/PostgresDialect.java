package dev.idempotency.database;

import java.sql.Connection;
import java.sql.SQLException;
import org.jspecify.annotations.Nullable;

/**
 * PostgreSQL: one statement whatever the number of messages.
 *
 * <p>The conflict is resolved by the database ({@code on conflict do nothing}). A duplicate-key error would poison the
 * transaction, so none is ever provoked.
 */
final class PostgresDialect implements Dialect {

    /** Each row of {@code held} but the last was found to lie in a pause, before which the next one begins to count. */
    private static final String EXPIRED_BEFORE = """
            request (consumer_id, age, begin) as materialized (
                select cast(? as varchar) collate "C", ? * interval '1 second', to_timestamp(?)
            ), held (instant, pauses) as (
                select least(
                        coalesce(
                            (select max(processed_at) from %1$s where consumer_id = request.consumer_id),
                            (select max(processed_at) from %3$s where consumer_id = request.consumer_id)),
                        current_timestamp) - request.age, 0
                from request
                union all
                select before.last - request.age, held.pauses + 1
                from held
                cross join request
                cross join lateral (
                    select max(processed_at) as last
                    from %1$s
                    where consumer_id = request.consumer_id
                        and processed_at >= request.begin and processed_at < held.instant
                ) as before
                cross join lateral (
                    select min(processed_at) as first
                    from %1$s
                    where consumer_id = request.consumer_id and processed_at >= held.instant
                ) as after
                where held.pauses < %2$d and after.first - before.last > request.age
            ), cutoff as materialized (
                select min(instant) as instant from held
            )
            """;

    private static final String ABANDONED_BEFORE = """
            request (consumer_id, age, begin) as materialized (
                select cast(? as varchar) collate "C", ? * interval '1 second', to_timestamp(?)
            ), latest (instant) as (
                select coalesce(
                    (select max(processed_at) from %1$s where consumer_id = request.consumer_id),
                    (select max(processed_at) from %2$s where consumer_id = request.consumer_id))
                from request
            ), cutoff as materialized (
                select latest.instant + interval '1 microsecond' as instant
                from latest
                cross join request
                where latest.instant < current_timestamp - request.age
            )
            """;

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

    private static final String QUERY_CANCELED = "57014";
    private static final String LOCK_NOT_AVAILABLE = "55P03";

    @Override
    public String vendor() {
        return "postgresql";
    }

    @Override
    public String identifierQuote() {
        return "\"";
    }

    @Override
    public ClaimStatement claimIn(String table) {
        return new PostgresClaims(table);
    }

    @Override
    public PositionStatement positionsIn(String table) {
        return new PostgresPositionStatement(table);
    }

    @Override
    public AnsweringClaimStatement answeringClaimIn(String table) {
        return new PostgresClaims(table);
    }

    @Override
    public @Nullable Boolean isTransactionIntact(Connection connection) throws SQLException {
        return PostgresTransactionState.isOpen(connection);
    }

    @Override
    public @Nullable Boolean isTransactionAborted(Connection connection) throws SQLException {
        return PostgresTransactionState.isAborted(connection);
    }

    @Override
    public PostgresPurgeStatement purgeExpiredIn(String table) {
        return purgeExpiredIn(table, table);
    }

    @Override
    public PostgresPurgeStatement purgeExpiredIn(String table, String processed) {
        return new PostgresPurgeStatement(table, EXPIRED_BEFORE.formatted(processed, PurgeStatement.PAUSES, table));
    }

    @Override
    public PostgresPurgeStatement purgeAbandonedIn(String table) {
        return purgeAbandonedIn(table, table);
    }

    @Override
    public PostgresPurgeStatement purgeAbandonedIn(String table, String processed) {
        return new PostgresPurgeStatement(table, ABANDONED_BEFORE.formatted(processed, table));
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
    public VersionStatement versionsIn(String table) {
        return new PostgresVersions(table, this);
    }

    @Override
    public boolean isTimeout(SQLException ex) {
        return QUERY_CANCELED.equals(ex.getSQLState()) || LOCK_NOT_AVAILABLE.equals(ex.getSQLState());
    }
}
