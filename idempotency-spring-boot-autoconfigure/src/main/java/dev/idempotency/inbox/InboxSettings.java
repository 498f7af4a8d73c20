package dev.idempotency.inbox;

/**
 * What is kept in the inbox.
 *
 * @param forAll whether all listeners have one
 * @param maxPayload the size in bytes beyond which a payload is left out
 */
public record InboxSettings(boolean forAll, int maxPayload) {}
