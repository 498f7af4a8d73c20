package dev.idempotency.definition;

import dev.idempotency.key.LockKeyResolver;
import dev.idempotency.lock.BusinessKeyLocks;

/** The lock of a listener: which keys its messages lock, and where. */
public record ListenerLock(LockKeyResolver keys, BusinessKeyLocks locks) {}
