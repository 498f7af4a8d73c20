package dev.idempotency.database;

import dev.idempotency.MessageId;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Replaces versions in PostgreSQL with one statement, whatever their number. A conflicting row is locked before it is
 * compared, and stays so if it is left as it is.
 */
final class PostgresVersions implements VersionStatement {

    private static final String MOVE = """
            insert into %s as held (
                consumer_id, message_id, version_kind, version, record_topic, record_partition, record_offset
            )
            values %s
            on conflict (consumer_id, message_id) do update
            set previous_version = held.version, previous_at = held.processed_at, previous_topic = held.record_topic,
                previous_partition = held.record_partition, previous_offset = held.record_offset,
                version = excluded.version, processed_at = excluded.processed_at, record_topic = excluded.record_topic,
                record_partition = excluded.record_partition, record_offset = excluded.record_offset
            where held.version < excluded.version and held.version_kind = excluded.version_kind
            returning message_id, %s
            """;

    private static final String ROW = "(?, ?, ?, ?, ?, ?, ?)";

    /** PostgreSQL takes 65,535 parameters. */
    private static final int CLAIMS_PER_STATEMENT = 5_000;

    private final String table;
    private final String previousColumns;
    private final String one;

    PostgresVersions(String table, Dialect dialect) {
        this.table = table;
        this.previousColumns = StoredVersion.previousColumns(dialect::secondsOf, dialect.now());
        this.one = sql(1);
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
                deadline.limit(statement);
                for (int i = 0; i < some.size(); i++) {
                    SingleRowVersions.bind(statement, 7 * i, some.get(i));
                }
                try (ResultSet rows = statement.executeQuery()) {
                    while (rows.next()) {
                        MessageId entity = new MessageId(some.get(0).entity().consumer(), rows.getString(1));
                        moved.put(entity, StoredVersion.readPrevious(entity, rows, 2));
                    }
                }
            }
        }
        return moved;
    }

    private String sql(int claims) {
        return MOVE.formatted(this.table, ROW + (", " + ROW).repeat(claims - 1), this.previousColumns);
    }
}
