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

/**
 * Claims in PostgreSQL, one statement whatever their number.
 *
 * <p>Those that answer with originals, too, are slower for new messages. One claim is looked up first, which costs least if it
 * is a duplicate's; several are inserted and looked up by one statement. All its parts see the table as it was when it began:
 * what others have committed while it waited for them it neither inserts nor finds. Arrays are cast to what they are, as the
 * driver's simple query mode does not say it.
 */
final class PostgresClaims implements ClaimStatement, AnsweringClaimStatement {

    private static final String ONE = """
            insert into %s (
                consumer_id, message_id, record_topic, record_partition, record_offset, payload_digest
            )
            values (?, ?, ?, ?, ?, ?)
            on conflict do nothing
            """;

    private static final String FIND_ONE = """
            select message_id, record_topic, record_partition, record_offset,
                extract(epoch from processed_at), extract(epoch from current_timestamp), payload_digest
            from %s
            where consumer_id = ? and message_id = ?
            """;

    private static final String MANY = """
            insert into %s (
                consumer_id, message_id, record_topic, record_partition, record_offset, payload_digest
            )
            select ?, claim.message_id, claim.record_topic, claim.record_partition, claim.record_offset,
                claim.payload_digest
            from unnest(
                    cast(? as varchar[]), cast(? as varchar[]), cast(? as integer[]), cast(? as bigint[]),
                    cast(? as bigint[]))
                as claim (message_id, record_topic, record_partition, record_offset, payload_digest)
            order by claim.message_id collate "C"
            on conflict do nothing
            returning message_id
            """;

    private static final String MANY_ANSWERING = """
            with claimed as (
                %2$s
            )
            select message_id, null, null, null, null, null, null
            from claimed
            union all
            select message_id, record_topic, record_partition, record_offset,
                extract(epoch from processed_at), extract(epoch from current_timestamp), payload_digest
            from %1$s
            where consumer_id = ? and message_id = any (?)
                and not exists (select from claimed where claimed.message_id = %1$s.message_id)
            """;

    private final String one;
    private final String findOne;
    private final String many;
    private final String manyAnswering;

    PostgresClaims(String table) {
        this.one = ONE.formatted(table);
        this.findOne = FIND_ONE.formatted(table);
        this.many = MANY.formatted(table);
        this.manyAnswering = MANY_ANSWERING.formatted(table, this.many.strip());
    }

    @Override
    public Set<MessageId> execute(Connection connection, List<Claim> claims, int timeoutSeconds) throws SQLException {
        if (claims.size() == 1) {
            return claimOne(connection, claims.get(0), timeoutSeconds);
        }
        try (PreparedStatement statement = prepare(connection, this.many, timeoutSeconds)) {
            bind(connection, statement, claims);
            String consumer = claims.get(0).id().consumer();
            Set<MessageId> claimed = new HashSet<>(claims.size() * 2);
            try (ResultSet rows = statement.executeQuery()) {
                while (rows.next()) {
                    claimed.add(new MessageId(consumer, rows.getString(1)));
                }
            }
            return claimed;
        }
    }

    @Override
    public Set<MessageId> execute(
            Connection connection, List<Claim> claims, int timeoutSeconds, OriginalReader originals)
            throws SQLException {
        if (claims.size() == 1) {
            return find(connection, claims.get(0), timeoutSeconds, originals)
                    ? Set.of()
                    : claimOne(connection, claims.get(0), timeoutSeconds);
        }
        try (PreparedStatement statement = prepare(connection, this.manyAnswering, timeoutSeconds)) {
            String[] ids = bind(connection, statement, claims);
            String consumer = claims.get(0).id().consumer();
            statement.setString(7, consumer);
            statement.setArray(8, connection.createArrayOf("varchar", ids));
            try (ResultSet rows = statement.executeQuery()) {
                return read(rows, consumer, claims.size(), originals);
            }
        }
    }

    private static PreparedStatement prepare(Connection connection, String sql, int timeoutSeconds)
            throws SQLException {
        PreparedStatement statement = connection.prepareStatement(sql);
        statement.setQueryTimeout(timeoutSeconds);
        return statement;
    }

    private Set<MessageId> claimOne(Connection connection, Claim claim, int timeoutSeconds) throws SQLException {
        try (PreparedStatement statement = prepare(connection, this.one, timeoutSeconds)) {
            MessageId id = SingleRowClaims.bind(statement, claim);
            return (statement.executeUpdate() == 1) ? Set.of(id) : Set.of();
        }
    }

    private boolean find(Connection connection, Claim claim, int timeoutSeconds, OriginalReader originals)
            throws SQLException {
        try (PreparedStatement statement = prepare(connection, this.findOne, timeoutSeconds)) {
            statement.setString(1, claim.id().consumer());
            statement.setString(2, claim.id().value());
            try (ResultSet rows = statement.executeQuery()) {
                boolean found = rows.next();
                if (found) {
                    originals.read(rows);
                }
                return found;
            }
        }
    }

    /** What the statement has inserted has no topic; what it has found has one, as the table demands. */
    private static Set<MessageId> read(ResultSet rows, String consumer, int size, OriginalReader originals)
            throws SQLException {
        Set<MessageId> claimed = new HashSet<>(size * 2);
        while (rows.next()) {
            if (rows.getString(2) == null) {
                claimed.add(new MessageId(consumer, rows.getString(1)));
            } else {
                originals.read(rows);
            }
        }
        return claimed;
    }

    /** Gives the statement the claims' values, as arrays, and returns their ids. */
    private static String[] bind(Connection connection, PreparedStatement statement, List<Claim> claims)
            throws SQLException {
        int size = claims.size();
        String[] ids = new String[size];
        String[] topics = new String[size];
        Integer[] partitions = new Integer[size];
        Long[] offsets = new Long[size];
        Long[] digests = new Long[size];
        for (int i = 0; i < size; i++) {
            Claim claim = claims.get(i);
            ids[i] = claim.id().value();
            topics[i] = claim.coordinates().topic();
            partitions[i] = claim.coordinates().partition();
            offsets[i] = claim.coordinates().offset();
            digests[i] = claim.payloadDigest();
        }
        statement.setString(1, claims.get(0).id().consumer());
        statement.setArray(2, connection.createArrayOf("varchar", ids));
        statement.setArray(3, connection.createArrayOf("varchar", topics));
        statement.setArray(4, connection.createArrayOf("int4", partitions));
        statement.setArray(5, connection.createArrayOf("int8", offsets));
        statement.setArray(6, connection.createArrayOf("int8", digests));
        return ids;
    }
}
