package dev.idempotency.database;

import dev.idempotency.MessageId;
import java.math.BigDecimal;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * How PostgreSQL moves versions on: one statement whatever their number. A conflicting row is locked before it is looked at,
 * and stays so if it is left as it is.
 */
final class PostgresVersions implements VersionStatement {

    private static final String ON_CONFLICT = """
            on conflict (consumer_id, message_id) do update
            set previous_version = held.version, previous_at = held.processed_at, previous_topic = held.record_topic,
                previous_partition = held.record_partition, previous_offset = held.record_offset,
                version = excluded.version, processed_at = excluded.processed_at, record_topic = excluded.record_topic,
                record_partition = excluded.record_partition, record_offset = excluded.record_offset
            where held.version < excluded.version and held.version_kind = excluded.version_kind
            """;

    private static final String MOVE_ONE = """
            insert into %s as held (
                consumer_id, message_id, version_kind, version, record_topic, record_partition, record_offset
            )
            values (?, ?, ?, ?, ?, ?, ?)
            """;

    private static final String MOVE_MANY = """
            insert into %s as held (
                consumer_id, message_id, version_kind, version, record_topic, record_partition, record_offset
            )
            select ?, claim.message_id, claim.version_kind, claim.version, claim.record_topic, claim.record_partition,
                claim.record_offset
            from unnest(
                    cast(? as varchar[]), cast(? as varchar[]), cast(? as numeric[]), cast(? as varchar[]),
                    cast(? as integer[]), cast(? as bigint[]))
                as claim (message_id, version_kind, version, record_topic, record_partition, record_offset)
            order by claim.message_id collate "C"
            """;

    private static final String FIND = "select %s from %s where consumer_id = ? and message_id = ?";

    private final String find;
    private final String one;
    private final String many;

    PostgresVersions(String table, Dialect dialect) {
        this.find = FIND.formatted(VersionColumns.of(dialect), table);
        this.one = MOVE_ONE.formatted(table) + ON_CONFLICT;
        this.many = MOVE_MANY.formatted(table)
                + ON_CONFLICT
                + "returning message_id, " + VersionColumns.ofPrevious(dialect);
    }

    @Override
    public Map<MessageId, Optional<StoredVersion>> execute(
            Connection connection, List<VersionClaim> claims, int timeoutSeconds) throws SQLException {
        return (claims.size() == 1 && !claims.get(0).asksForPrevious())
                ? moveOne(connection, claims.get(0), timeoutSeconds)
                : moveMany(connection, claims, timeoutSeconds);
    }

    private Map<MessageId, Optional<StoredVersion>> moveOne(
            Connection connection, VersionClaim claim, int timeoutSeconds) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(this.one)) {
            statement.setQueryTimeout(timeoutSeconds);
            SingleRowVersions.bindEntity(statement, 1, claim.entity());
            SingleRowVersions.bindVersion(statement, 3, claim);
            return (statement.executeUpdate() == 1) ? Map.of(claim.entity(), Optional.empty()) : Map.of();
        }
    }

    private Map<MessageId, Optional<StoredVersion>> moveMany(
            Connection connection, List<VersionClaim> claims, int timeoutSeconds) throws SQLException {
        int size = claims.size();
        String[] entities = new String[size];
        String[] kinds = new String[size];
        BigDecimal[] versions = new BigDecimal[size];
        String[] topics = new String[size];
        Integer[] partitions = new Integer[size];
        Long[] offsets = new Long[size];
        for (int i = 0; i < size; i++) {
            VersionClaim claim = claims.get(i);
            entities[i] = claim.entity().value();
            kinds[i] = SingleRowVersions.nameOf(claim);
            versions[i] = claim.version().value();
            topics[i] = claim.coordinates().topic();
            partitions[i] = claim.coordinates().partition();
            offsets[i] = claim.coordinates().offset();
        }
        String consumer = claims.get(0).entity().consumer();
        try (PreparedStatement statement = connection.prepareStatement(this.many)) {
            statement.setQueryTimeout(timeoutSeconds);
            statement.setString(1, consumer);
            statement.setArray(2, connection.createArrayOf("varchar", entities));
            statement.setArray(3, connection.createArrayOf("varchar", kinds));
            statement.setArray(4, connection.createArrayOf("numeric", versions));
            statement.setArray(5, connection.createArrayOf("varchar", topics));
            statement.setArray(6, connection.createArrayOf("int4", partitions));
            statement.setArray(7, connection.createArrayOf("int8", offsets));
            Map<MessageId, Optional<StoredVersion>> moved = new HashMap<>(size * 2);
            try (ResultSet rows = statement.executeQuery()) {
                while (rows.next()) {
                    MessageId entity = new MessageId(consumer, rows.getString(1));
                    boolean any = rows.getBigDecimal(3) != null;
                    moved.put(entity, any ? Optional.of(VersionColumns.read(entity, rows, 2)) : Optional.empty());
                }
            }
            return moved;
        }
    }

    /** Each statement sees what is committed then or, with a higher isolation, what the first one saw, whichever it was. */
    @Override
    public @Nullable StoredVersion findFirst(Connection connection, MessageId entity, int timeoutSeconds)
            throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(this.find)) {
            statement.setQueryTimeout(timeoutSeconds);
            SingleRowVersions.bindEntity(statement, 1, entity);
            try (ResultSet rows = statement.executeQuery()) {
                return rows.next() ? VersionColumns.read(entity, rows, 1) : null;
            }
        }
    }
}
