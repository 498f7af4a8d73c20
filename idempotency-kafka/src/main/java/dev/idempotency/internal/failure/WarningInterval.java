package dev.idempotency.internal.failure;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;

/** Lets one warning per interval pass. */
public final class WarningInterval {

    private final LongSupplier nanoTime;
    private final long intervalNanos;
    private final AtomicLong next;

    public WarningInterval(LongSupplier nanoTime, Duration interval) {
        this.nanoTime = nanoTime;
        this.intervalNanos = interval.toNanos();
        this.next = new AtomicLong(nanoTime.getAsLong());
    }

    public boolean isDue() {
        long now = this.nanoTime.getAsLong();
        long due = this.next.get();
        return now - due >= 0 && this.next.compareAndSet(due, now + this.intervalNanos);
    }
}
