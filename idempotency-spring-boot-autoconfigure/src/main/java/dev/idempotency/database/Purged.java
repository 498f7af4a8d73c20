package dev.idempotency.database;

import java.time.Instant;

/**
 * What was deleted.
 *
 * @param rows how many messages
 * @param upTo when the youngest of them was processed, or where the request began if there were none
 */
public record Purged(int rows, Instant upTo) {}
