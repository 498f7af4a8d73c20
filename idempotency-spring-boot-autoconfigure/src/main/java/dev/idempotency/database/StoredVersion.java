package dev.idempotency.database;

import dev.idempotency.MessageId;
import dev.idempotency.RecordCoordinates;
import dev.idempotency.Version;
import java.time.Duration;
import java.time.Instant;

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
}
