package dev.idempotency.database;

import dev.idempotency.MessageId;
import dev.idempotency.RecordCoordinates;
import dev.idempotency.Version;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.Locale;

/** The columns of a version, and how they are read. */
public final class VersionColumns {

    private VersionColumns() {}

    /** Those of an entity's version, in the order in which they are read. */
    public static String of(Dialect dialect) {
        return "version_kind, version, record_topic, record_partition, record_offset, %s, %s"
                .formatted(dialect.secondsOf("processed_at"), dialect.secondsOfNow());
    }

    /** Those of the version before that, which are null if there was none. */
    static String ofPrevious(Dialect dialect) {
        return "version_kind, previous_version, previous_topic, previous_partition, previous_offset, %s, %s"
                .formatted(dialect.secondsOf("previous_at"), dialect.secondsOfNow());
    }

    /** Reads what they have selected, from the column with this number on. */
    public static StoredVersion read(MessageId entity, ResultSet row, int first) throws SQLException {
        Version.Kind kind = Version.Kind.valueOf(row.getString(first).toUpperCase(Locale.ROOT));
        Instant processedAt = EpochSeconds.toInstant(row.getBigDecimal(first + 5));
        Instant now = EpochSeconds.toInstant(row.getBigDecimal(first + 6));
        return new StoredVersion(
                entity,
                new Version(kind, row.getBigDecimal(first + 1)),
                new RecordCoordinates(row.getString(first + 2), row.getInt(first + 3), row.getLong(first + 4)),
                processedAt,
                Duration.between(processedAt, now));
    }
}
