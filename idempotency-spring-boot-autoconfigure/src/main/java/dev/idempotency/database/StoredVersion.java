package dev.idempotency.database;

import dev.idempotency.MessageId;
import dev.idempotency.RecordCoordinates;
import dev.idempotency.Version;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.Locale;

/**
 * A version of an entity that has been processed.
 *
 * @param entity the entity
 * @param version its version
 * @param coordinates the record whose delivery was processed
 * @param processedAt when, by the database's clock
 * @param age how long ago that was, by the database's clock; never negative
 */
public record StoredVersion(
        MessageId entity, Version version, RecordCoordinates coordinates, Instant processedAt, Duration age) {

    public StoredVersion {
        if (age.isNegative()) {
            age = Duration.ZERO;
        }
    }

    /** Whether a version is newer; not if the two do not compare. */
    public boolean isOlderThan(Version other) {
        return isComparedWith(other) && this.version.compareTo(other) < 0;
    }

    /** Whether a version is of the same kind. */
    public boolean isComparedWith(Version other) {
        return this.version.kind() == other.kind();
    }

    /** What {@link #columns} have selected. */
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

    /** The columns of an entity's version, in the order in which they are read. */
    public static String columns(Dialect dialect) {
        return "version_kind, version, record_topic, record_partition, record_offset, %s, %s"
                .formatted(dialect.secondsOf("processed_at"), dialect.secondsOfNow());
    }

    /** Those of the version before that, which are null if there was none. */
    static String previousColumns(Dialect dialect) {
        return "version_kind, previous_version, previous_topic, previous_partition, previous_offset, %s, %s"
                .formatted(dialect.secondsOf("previous_at"), dialect.secondsOfNow());
    }
}
