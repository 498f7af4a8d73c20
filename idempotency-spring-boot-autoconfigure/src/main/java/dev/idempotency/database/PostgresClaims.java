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
import java.util.function.Function;

/**
 * Claims in PostgreSQL with one statement, whatever their number. Arrays are cast, as the driver's simple query mode does not
 * send their type.
 */
final class PostgresClaims implements ClaimStatement {

    private static final String ONE = """
            insert into %s (
                consumer_id, message_id, record_topic, record_partition, record_offset, payload_digest
            )
            values (?, ?, ?, ?, ?, ?)
            on conflict do nothing
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

    private final String one;
    private final String many;

    PostgresClaims(String table) {
        this.one = ONE.formatted(table);
        this.many = MANY.formatted(table);
    }

    @Override
    public Set<MessageId> execute(Connection connection, List<Claim> claims, int timeoutSeconds) throws SQLException {
        return (claims.size() == 1)
                ? claimOne(connection, claims.get(0), timeoutSeconds)
                : claimMany(connection, claims, timeoutSeconds);
    }

    private Set<MessageId> claimOne(Connection connection, Claim claim, int timeoutSeconds) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(this.one)) {
            statement.setQueryTimeout(timeoutSeconds);
            SingleRowClaims.bind(statement, claim);
            return (statement.executeUpdate() == 1) ? Set.of(claim.id()) : Set.of();
        }
    }

    private Set<MessageId> claimMany(Connection connection, List<Claim> claims, int timeoutSeconds)
            throws SQLException {
        String consumer = claims.get(0).id().consumer();
        try (PreparedStatement statement = connection.prepareStatement(this.many)) {
            statement.setQueryTimeout(timeoutSeconds);
            statement.setString(1, consumer);
            setArray(statement, 2, "varchar", claims, claim -> claim.id().value());
            setArray(statement, 3, "varchar", claims, claim -> claim.coordinates()
                    .topic());
            setArray(statement, 4, "int4", claims, claim -> claim.coordinates().partition());
            setArray(statement, 5, "int8", claims, claim -> claim.coordinates().offset());
            setArray(statement, 6, "int8", claims, Claim::payloadDigest);
            Set<MessageId> claimed = new HashSet<>(claims.size() * 2);
            try (ResultSet rows = statement.executeQuery()) {
                while (rows.next()) {
                    claimed.add(new MessageId(consumer, rows.getString(1)));
                }
            }
            return claimed;
        }
    }

    /** Gives a statement one property of all claims, as an array. */
    static <C> void setArray(
            PreparedStatement statement, int index, String type, List<C> claims, Function<C, ?> property)
            throws SQLException {
        Object[] values = claims.stream().map(property).toArray();
        statement.setArray(index, statement.getConnection().createArrayOf(type, values));
    }
}
