package dev.idempotency.database;

import dev.idempotency.Claim;
import dev.idempotency.MessageId;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * PostgreSQL: one statement whatever the number of messages.
 *
 * <p>The conflict is resolved by the database ({@code on conflict do nothing}). A duplicate-key error would poison the
 * transaction, so none is ever provoked.
 */
final class PostgresDialect implements Dialect {

    private static final String CLAIM_ONE = """
            insert into %s (consumer_id, message_id, record_topic, record_partition, record_offset)
            values (?, ?, ?, ?, ?)
            on conflict do nothing
            """;

    private static final String CLAIM_MANY = """
            insert into %s (consumer_id, message_id, record_topic, record_partition, record_offset)
            select ?, claim.message_id, claim.record_topic, claim.record_partition, claim.record_offset
            from unnest(?, ?, ?, ?) as claim (message_id, record_topic, record_partition, record_offset)
            order by claim.message_id collate "C"
            on conflict do nothing
            returning message_id
            """;

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
        String one = CLAIM_ONE.formatted(table);
        String many = CLAIM_MANY.formatted(table);
        StatementWatch watch = new StatementWatch();
        return new ClaimStatement() {

            @Override
            public Set<MessageId> execute(Connection connection, List<Claim> claims, int timeoutSeconds)
                    throws SQLException {
                return (claims.size() == 1)
                        ? claimOne(connection, one, claims.get(0), watch, timeoutSeconds)
                        : claimMany(connection, many, claims, timeoutSeconds);
            }

            @Override
            public void close() {
                watch.close();
            }
        };
    }

    private static Set<MessageId> claimOne(
            Connection connection, String sql, Claim claim, StatementWatch watch, int timeoutSeconds)
            throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
            MessageId id = SingleRowClaims.bind(statement, claim);
            watch.begin(statement, timeoutSeconds);
            try {
                return (statement.executeUpdate() == 1) ? Set.of(id) : Set.of();
            } finally {
                watch.end(statement);
            }
        }
    }

    private static Set<MessageId> claimMany(Connection connection, String sql, List<Claim> claims, int timeoutSeconds)
            throws SQLException {
        int size = claims.size();
        String[] ids = new String[size];
        String[] topics = new String[size];
        Integer[] partitions = new Integer[size];
        Long[] offsets = new Long[size];
        for (int i = 0; i < size; i++) {
            Claim claim = claims.get(i);
            ids[i] = claim.id().value();
            topics[i] = claim.coordinates().topic();
            partitions[i] = claim.coordinates().partition();
            offsets[i] = claim.coordinates().offset();
        }
        String consumer = claims.get(0).id().consumer();
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
            statement.setQueryTimeout(timeoutSeconds);
            statement.setString(1, consumer);
            statement.setArray(2, connection.createArrayOf("varchar", ids));
            statement.setArray(3, connection.createArrayOf("varchar", topics));
            statement.setArray(4, connection.createArrayOf("int4", partitions));
            statement.setArray(5, connection.createArrayOf("int8", offsets));
            Set<MessageId> claimed = new HashSet<>(size * 2);
            try (ResultSet rows = statement.executeQuery()) {
                while (rows.next()) {
                    claimed.add(new MessageId(consumer, rows.getString(1)));
                }
            }
            return claimed;
        }
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
    public boolean isTimeout(SQLException ex) {
        return QUERY_CANCELED.equals(ex.getSQLState()) || LOCK_NOT_AVAILABLE.equals(ex.getSQLState());
    }
}
