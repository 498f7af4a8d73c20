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
            insert into %1$s (consumer_id, message_id, record_topic, record_partition, record_offset%2$s)
            values (?, ?, ?, ?, ?%3$s)
            on conflict do nothing
            """;

    private static final String FIND_ONE = """
            select message_id, record_topic, record_partition, record_offset,
                extract(epoch from processed_at), extract(epoch from current_timestamp)%2$s
            from %1$s
            where consumer_id = ? and message_id = ?
            """;

    private static final String MANY = """
            insert into %1$s (consumer_id, message_id, record_topic, record_partition, record_offset%2$s)
            select ?, claim.message_id, claim.record_topic, claim.record_partition, claim.record_offset%2$s
            from unnest(cast(? as varchar[]), cast(? as varchar[]), cast(? as integer[]), cast(? as bigint[])%3$s)
                as claim (message_id, record_topic, record_partition, record_offset%2$s)
            order by claim.message_id collate "C"
            on conflict do nothing
            returning message_id
            """;

    private static final String MANY_ANSWERING = """
            with claimed as (
                %4$s
            )
            select message_id, null, null, null, null, null%3$s
            from claimed
            union all
            select message_id, record_topic, record_partition, record_offset,
                extract(epoch from processed_at), extract(epoch from current_timestamp)%2$s
            from %1$s
            where consumer_id = ? and message_id = any (?)
                and not exists (select from claimed where claimed.message_id = %1$s.message_id)
            """;

    private final StatementWatch watch = new StatementWatch();
    private final Statements plain;
    private final Statements withDigests;

    /** The statements for claims with or without digests. */
    private record Statements(boolean digests, String one, String findOne, String many, String manyAnswering) {

        static Statements of(String table, boolean digests) {
            String digest = digests ? ", payload_digest" : "";
            String one = ONE.formatted(table, digest, digests ? ", ?" : "");
            String find = FIND_ONE.formatted(table, digest);
            String many = MANY.formatted(table, digest, digests ? ", cast(? as bigint[])" : "");
            String manyAnswering = MANY_ANSWERING.formatted(table, digest, digests ? ", null" : "", many.strip());
            return new Statements(digests, one, find, many, manyAnswering);
        }
    }

    PostgresClaims(String table) {
        this.plain = Statements.of(table, false);
        this.withDigests = Statements.of(table, true);
    }

    @Override
    public Set<MessageId> execute(Connection connection, List<Claim> claims, int timeoutSeconds) throws SQLException {
        Statements statements = statementsFor(claims);
        return (claims.size() == 1)
                ? claimOne(connection, statements, claims.get(0), timeoutSeconds)
                : claimMany(connection, statements, claims, timeoutSeconds);
    }

    @Override
    public Set<MessageId> execute(
            Connection connection, List<Claim> claims, int timeoutSeconds, OriginalReader originals)
            throws SQLException {
        Statements statements = statementsFor(claims);
        return (claims.size() == 1)
                ? claimOneOrFind(connection, statements, claims.get(0), timeoutSeconds, originals)
                : claimManyOrFind(connection, statements, claims, timeoutSeconds, originals);
    }

    private Statements statementsFor(List<Claim> claims) {
        return SingleRowClaims.haveDigests(claims) ? this.withDigests : this.plain;
    }

    private Set<MessageId> claimOne(Connection connection, Statements statements, Claim claim, int timeoutSeconds)
            throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(statements.one())) {
            MessageId id = SingleRowClaims.bind(statement, claim, statements.digests());
            this.watch.begin(statement, timeoutSeconds);
            try {
                return (statement.executeUpdate() == 1) ? Set.of(id) : Set.of();
            } finally {
                this.watch.end(statement);
            }
        }
    }

    private Set<MessageId> claimOneOrFind(
            Connection connection, Statements statements, Claim claim, int timeoutSeconds, OriginalReader originals)
            throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(statements.findOne())) {
            statement.setString(1, claim.id().consumer());
            statement.setString(2, claim.id().value());
            this.watch.begin(statement, timeoutSeconds);
            try (ResultSet rows = statement.executeQuery()) {
                if (rows.next()) {
                    originals.read(rows);
                    return Set.of();
                }
            } finally {
                this.watch.end(statement);
            }
        }
        return claimOne(connection, statements, claim, timeoutSeconds);
    }

    private static Set<MessageId> claimMany(
            Connection connection, Statements statements, List<Claim> claims, int timeoutSeconds) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(statements.many())) {
            statement.setQueryTimeout(timeoutSeconds);
            bind(connection, statement, claims, statements.digests());
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

    private static Set<MessageId> claimManyOrFind(
            Connection connection,
            Statements statements,
            List<Claim> claims,
            int timeoutSeconds,
            OriginalReader originals)
            throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(statements.manyAnswering())) {
            statement.setQueryTimeout(timeoutSeconds);
            String[] ids = bind(connection, statement, claims, statements.digests());
            String consumer = claims.get(0).id().consumer();
            int next = statements.digests() ? 7 : 6;
            statement.setString(next, consumer);
            statement.setArray(next + 1, connection.createArrayOf("varchar", ids));
            try (ResultSet rows = statement.executeQuery()) {
                return read(rows, consumer, claims.size(), originals);
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
    private static String[] bind(
            Connection connection, PreparedStatement statement, List<Claim> claims, boolean withDigests)
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
        if (withDigests) {
            statement.setArray(6, connection.createArrayOf("int8", digests));
        }
        return ids;
    }

    @Override
    public void close() {
        this.watch.close();
    }
}
