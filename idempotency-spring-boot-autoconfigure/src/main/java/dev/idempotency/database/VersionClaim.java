package dev.idempotency.database;

import dev.idempotency.MessageId;
import dev.idempotency.RecordCoordinates;
import dev.idempotency.Version;
import java.util.Locale;

/**
 * The wish to replace the version of an entity by a newer one.
 *
 * @param entity the entity
 * @param version the version that it is to have
 * @param coordinates the record that carries it
 */
public record VersionClaim(MessageId entity, Version version, RecordCoordinates coordinates) {

    /** The kind of the version, as it is stored. */
    String kind() {
        return this.version.kind().name().toLowerCase(Locale.ROOT);
    }
}
