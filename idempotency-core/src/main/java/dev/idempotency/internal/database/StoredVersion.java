package dev.idempotency.internal.database;

import dev.idempotency.MessageId;
import dev.idempotency.RecordCoordinates;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.Locale;
import java.util.Optional;
import java.util.function.UnaryOperator;

/**
 * A version of an entity that has been processed.
 *
 * @param coordinates the record whose delivery was processed
 * @param processedAt when, by the database's clock
 * @param age how long ago that was, by the database's clock; never negative
 */
public record StoredVersion(
        MessageId entity, EntityVersion version, RecordCoordinates coordinates, Instant processedAt, Duration age) {

    public StoredVersion {
        if (age.isNegative()) {
            age = Duration.ZERO;
        }
    }

    /** The columns that {@link #read} reads, in their order. */
    public static String columns(UnaryOperator<String> secondsOf, String now) {
        return "version_kind, version, record_topic, record_partition, record_offset, %s, %s"
                .formatted(secondsOf.apply("processed_at"), secondsOf.apply(now));
    }

    /** The columns that {@link #readPrevious} reads, in their order; null if the entity had no version before. */
    static String previousColumns(UnaryOperator<String> secondsOf, String now) {
        return "version_kind, previous_version, previous_topic, previous_partition, previous_offset, %s, %s"
                .formatted(secondsOf.apply("previous_at"), secondsOf.apply(now));
    }

    /** Reads a version from the column with this number on. */
    public static StoredVersion read(MessageId entity, ResultSet row, int first) throws SQLException {
        EntityVersion.Kind kind =
                EntityVersion.Kind.valueOf(row.getString(first).toUpperCase(Locale.ROOT));
        Instant processedAt = EpochSeconds.toInstant(row.getBigDecimal(first + 5));
        Instant now = EpochSeconds.toInstant(row.getBigDecimal(first + 6));
        return new StoredVersion(
                entity,
                new EntityVersion(kind, row.getBigDecimal(first + 1)),
                new RecordCoordinates(row.getString(first + 2), row.getInt(first + 3), row.getLong(first + 4)),
                processedAt,
                Duration.between(processedAt, now));
    }

    static Optional<StoredVersion> readPrevious(MessageId entity, ResultSet row, int first) throws SQLException {
        return (row.getBigDecimal(first + 1) != null) ? Optional.of(read(entity, row, first)) : Optional.empty();
    }

    /** Returns whether a version is newer, which one of another kind is not. */
    public boolean isOlderThan(EntityVersion other) {
        return this.version.kind() == other.kind() && this.version.compareTo(other) < 0;
    }
}
