package dev.idempotency.observe;

/**
 * Gives every consumer its observer, once, at start-up.
 *
 * <p>Define beans of this type to observe processed messages and duplicates.
 */
@FunctionalInterface
public interface IdempotencyObserver {

    /** The observer of a consumer; called once per consumer, not per message. */
    ConsumerObserver observe(ConsumerDescription consumer);
}
