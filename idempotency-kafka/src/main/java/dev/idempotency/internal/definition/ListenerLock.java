package dev.idempotency.internal.definition;

import dev.idempotency.internal.key.LockKeyResolver;
import dev.idempotency.internal.lock.BusinessKeyLocks;

/** The lock of a listener: which keys its messages lock, and where. */
public record ListenerLock(LockKeyResolver keys, BusinessKeyLocks locks) {}
