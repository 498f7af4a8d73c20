package dev.idempotency.internal.definition;

/** Marks the advisor that claims, for others to see whether it is in its place. */
public interface IdempotencyInfrastructure {}
