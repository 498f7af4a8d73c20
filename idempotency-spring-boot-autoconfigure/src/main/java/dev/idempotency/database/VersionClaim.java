package dev.idempotency.database;

import dev.idempotency.MessageId;
import dev.idempotency.RecordCoordinates;
import dev.idempotency.Version;

/**
 * The wish to move the version of an entity on.
 *
 * @param entity the entity
 * @param version the version that it is to have
 * @param coordinates the record that carries it
 * @param asksForPrevious whether it matters what the entity had before, as older versions of it ask to enter, too
 */
public record VersionClaim(MessageId entity, Version version, RecordCoordinates coordinates, boolean asksForPrevious) {}
