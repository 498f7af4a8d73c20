package dev.idempotency.internal.database;

import dev.idempotency.Claim;
import dev.idempotency.MessageId;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;

/** PostgreSQL's statements for claims, positions and versions: one, whatever their number. */
final class PostgresStatements {

    private PostgresStatements() {}

    /** Arrays are cast, as the driver's simple query mode does not send their type. */
    static final class Claims implements ClaimStatement {

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

        Claims(String table) {
            this.one = ONE.formatted(table);
            this.many = MANY.formatted(table);
        }

        @Override
        public Set<MessageId> execute(Connection connection, List<Claim> claims, int timeoutSeconds)
                throws SQLException {
            boolean single = claims.size() == 1;
            try (PreparedStatement statement = connection.prepareStatement(single ? this.one : this.many)) {
                return StatementTimer.limit(
                        statement,
                        timeoutSeconds,
                        () -> single ? claimOne(statement, claims.get(0)) : claimMany(statement, claims));
            }
        }

        private static Set<MessageId> claimOne(PreparedStatement statement, Claim claim) throws SQLException {
            SingleRowStatements.bind(statement, claim);
            return (statement.executeUpdate() == 1) ? Set.of(claim.id()) : Set.of();
        }

        private static Set<MessageId> claimMany(PreparedStatement statement, List<Claim> claims) throws SQLException {
            String consumer = claims.get(0).id().consumer();
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

        private static void setArray(
                PreparedStatement statement, int index, String type, List<Claim> claims, Function<Claim, ?> property)
                throws SQLException {
            Object[] values = claims.stream().map(property).toArray();
            statement.setArray(index, statement.getConnection().createArrayOf(type, values));
        }
    }

    static final class Positions implements PositionStatement {

        private static final String MOVE = """
                insert into %s as position (
                    consumer_id, record_topic, record_partition, topic_id, previous_offset, next_offset
                )
                values %s
                on conflict (consumer_id, record_topic, record_partition) do update
                set previous_offset = position.next_offset, next_offset = excluded.next_offset,
                    processed_at = excluded.processed_at
                where position.topic_id = excluded.topic_id and position.next_offset < excluded.next_offset
                returning previous_offset, record_topic, record_partition
                """;

        private final String table;
        private final String one;

        Positions(String table) {
            this.table = table;
            this.one = sql(1);
        }

        private String sql(int claims) {
            return MOVE.formatted(this.table, rows("(?, ?, ?, ?, ?, ?)", claims));
        }

        @Override
        public Map<PositionClaim, Long> execute(Connection connection, List<PositionClaim> claims, int timeoutSeconds)
                throws SQLException {
            String sql = (claims.size() == 1) ? this.one : sql(claims.size());
            try (PreparedStatement statement = connection.prepareStatement(sql)) {
                for (int i = 0; i < claims.size(); i++) {
                    SingleRowStatements.bind(statement, 6 * i, claims.get(i));
                }
                return StatementTimer.limit(statement, timeoutSeconds, () -> move(statement, claims));
            }
        }

        private static Map<PositionClaim, Long> move(PreparedStatement statement, List<PositionClaim> claims)
                throws SQLException {
            Map<PositionClaim, Long> moved = new HashMap<>();
            try (ResultSet rows = statement.executeQuery()) {
                while (rows.next()) {
                    long previous = rows.getLong(1);
                    String topic = rows.getString(2);
                    int partition = rows.getInt(3);
                    claims.stream()
                            .filter(claim -> claim.partition() == partition
                                    && claim.topic().equals(topic))
                            .forEach(claim -> moved.put(claim, previous));
                }
            }
            return moved;
        }
    }

    /** A conflicting row is locked before it is compared, and stays so if it is left as it is. */
    static final class Versions implements VersionStatement {

        private static final String MOVE = """
                insert into %s as held (
                    consumer_id, message_id, version_kind, version, record_topic, record_partition, record_offset
                )
                values %s
                on conflict (consumer_id, message_id) do update
                set previous_version = held.version, previous_at = held.processed_at, previous_topic = held.record_topic,
                    previous_partition = held.record_partition, previous_offset = held.record_offset,
                    version = excluded.version, processed_at = excluded.processed_at,
                    record_topic = excluded.record_topic, record_partition = excluded.record_partition,
                    record_offset = excluded.record_offset
                where held.version < excluded.version and held.version_kind = excluded.version_kind
                returning message_id, %s
                """;

        /** PostgreSQL takes 65,535 parameters. */
        private static final int CLAIMS_PER_STATEMENT = 5_000;

        private final String table;
        private final String previousColumns;
        private final String one;

        Versions(String table, Dialect dialect) {
            this.table = table;
            this.previousColumns = StoredVersion.previousColumns(dialect::secondsOf, dialect.now());
            this.one = sql(1);
        }

        private String sql(int claims) {
            return MOVE.formatted(this.table, rows("(?, ?, ?, ?, ?, ?, ?)", claims), this.previousColumns);
        }

        @Override
        public Map<MessageId, Optional<StoredVersion>> execute(
                Connection connection, List<VersionClaim> claims, int timeoutSeconds) throws SQLException {
            Map<MessageId, Optional<StoredVersion>> moved = new HashMap<>(claims.size() * 2);
            ClaimDeadline deadline = new ClaimDeadline(timeoutSeconds);
            for (int from = 0; from < claims.size(); from += CLAIMS_PER_STATEMENT) {
                List<VersionClaim> some = claims.subList(from, Math.min(from + CLAIMS_PER_STATEMENT, claims.size()));
                String sql = (some.size() == 1) ? this.one : sql(some.size());
                try (PreparedStatement statement = connection.prepareStatement(sql)) {
                    for (int i = 0; i < some.size(); i++) {
                        SingleRowStatements.bind(statement, 7 * i, some.get(i));
                    }
                    String consumer = some.get(0).entity().consumer();
                    moved.putAll(
                            StatementTimer.limit(statement, deadline.secondsLeft(), () -> move(statement, consumer)));
                }
            }
            return moved;
        }

        private static Map<MessageId, Optional<StoredVersion>> move(PreparedStatement statement, String consumer)
                throws SQLException {
            Map<MessageId, Optional<StoredVersion>> moved = new HashMap<>();
            try (ResultSet rows = statement.executeQuery()) {
                while (rows.next()) {
                    MessageId entity = new MessageId(consumer, rows.getString(1));
                    moved.put(entity, StoredVersion.readPrevious(entity, rows, 2));
                }
            }
            return moved;
        }
    }

    private static String rows(String row, int count) {
        return row + (", " + row).repeat(count - 1);
    }
}
