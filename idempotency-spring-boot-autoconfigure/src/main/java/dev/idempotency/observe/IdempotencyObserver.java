package dev.idempotency.observe;

/**
 * Gives every consumer its observer, once, at start-up.
 *
 * <p>Define beans of this type to hear of processed messages and duplicates.
 */
@FunctionalInterface
public interface IdempotencyObserver {

    /** The observer of a consumer, to be asked nothing more for each message. */
    ConsumerObserver observe(ConsumerDescription consumer);
}
