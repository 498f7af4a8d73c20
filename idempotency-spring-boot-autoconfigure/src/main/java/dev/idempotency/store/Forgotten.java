package dev.idempotency.store;

import java.time.Instant;

/**
 * What was deleted.
 *
 * @param rows how many messages
 * @param upTo when the youngest of them was processed, or where the request began if there were none
 */
public record Forgotten(int rows, Instant upTo) {}
