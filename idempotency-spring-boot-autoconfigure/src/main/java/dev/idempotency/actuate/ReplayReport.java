package dev.idempotency.actuate;

import org.jspecify.annotations.Nullable;

/**
 * What became of a replay.
 *
 * @param sent how many messages were sent to their topics again
 * @param unsendable how many could not be, each for a reason of its own, which is its last error
 * @param withoutPayload how many could not be, as their payload was not kept
 * @param refused why a single message was not, or why those after the ones that were sent were not
 */
record ReplayReport(
        long sent,
        long unsendable,
        long withoutPayload,
        @Nullable String refused) {}
