package dev.idempotency.actuate;

import org.jspecify.annotations.Nullable;

/**
 * What became of a replay.
 *
 * @param sent how many messages were sent to their topics again
 * @param withoutPayload how many could not be, as their payload was not kept
 * @param refused why a single message was not
 */
public record ReplayReport(
        long sent, long withoutPayload, @Nullable String refused) {}
