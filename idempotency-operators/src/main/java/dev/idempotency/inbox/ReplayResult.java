package dev.idempotency.inbox;

/**
 * The result of a replay of all failed messages of a consumer.
 *
 * @param sent how many were sent to their topics again
 * @param refused how many the broker or the producer refused, for reasons that are logged
 * @param withoutPayload how many could not be, as their payload was not kept
 */
public record ReplayResult(long sent, long refused, long withoutPayload) {}
