package dev.idempotency.store;

import dev.idempotency.DuplicateKind;
import dev.idempotency.RecordCoordinates;
import dev.idempotency.Version;
import dev.idempotency.database.StoredVersion;
import dev.idempotency.observe.Duplicate;
import dev.idempotency.observe.Stale;
import java.time.Duration;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * The newest version of an entity before a message: one that was processed, or one that enters with the same delivery.
 *
 * @param version the version
 * @param coordinates the record that carried it
 * @param processedAt when it was processed; {@code null} if it is about to be
 * @param age how long ago that was; {@code null} likewise
 */
record NewestVersion(
        Version version,
        RecordCoordinates coordinates,
        @Nullable Instant processedAt,
        @Nullable Duration age) {

    static NewestVersion of(StoredVersion stored) {
        return new NewestVersion(stored.version(), stored.coordinates(), stored.processedAt(), stored.age());
    }

    static NewestVersion of(Candidate candidate, EntityVersion claimed) {
        return new NewestVersion(claimed.version(), candidate.coordinates(), null, null);
    }

    /** A message that has the same version. */
    Duplicate duplicate(Candidate candidate, EntityVersion claimed) {
        DuplicateKind kind = this.coordinates.equals(candidate.coordinates())
                ? DuplicateKind.REDELIVERY
                : DuplicateKind.REPUBLICATION;
        return new Duplicate(claimed.messageId(), candidate.coordinates(), kind, this.processedAt, this.age);
    }

    /** A message that has an older one. */
    Stale stale(Candidate candidate, EntityVersion claimed) {
        return new Stale(
                claimed.messageId(),
                candidate.coordinates(),
                claimed.version(),
                this.version,
                this.processedAt,
                this.age);
    }
}
