package dev.idempotency.internal.definition;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;

/** Lets one warning a minute pass. */
public final class WarningInterval {

    private final LongSupplier nanoTime;
    private final AtomicLong next;

    WarningInterval(LongSupplier nanoTime) {
        this.nanoTime = nanoTime;
        this.next = new AtomicLong(nanoTime.getAsLong());
    }

    boolean isDue() {
        long now = this.nanoTime.getAsLong();
        long due = this.next.get();
        return now - due >= 0 && this.next.compareAndSet(due, now + TimeUnit.MINUTES.toNanos(1));
    }
}
