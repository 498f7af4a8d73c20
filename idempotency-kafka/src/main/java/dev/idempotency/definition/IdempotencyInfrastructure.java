package dev.idempotency.definition;

/**
 * Marks what protects a listener: the message listeners that remember what a container delivers, and the advisor that
 * claims. By it others see whether that is in its place.
 */
public interface IdempotencyInfrastructure {}
