package dev.idempotency.inbox;

/**
 * What became of the replay of all failed messages of a consumer.
 *
 * @param sent how many were sent to their topics again
 * @param withoutPayload how many could not be, as their payload was not kept
 */
public record Replays(long sent, long withoutPayload) {}
