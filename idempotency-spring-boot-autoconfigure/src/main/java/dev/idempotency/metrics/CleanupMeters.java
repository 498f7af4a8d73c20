package dev.idempotency.metrics;

import dev.idempotency.retention.CleanupObserver;
import dev.idempotency.retention.CleanupRun;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;

/** The meters of the cleanup, listed in {@link IdempotencyMeters}. */
public final class CleanupMeters implements CleanupObserver {

    private final Timer complete;
    private final Timer behind;
    private final Counter deleted;
    private final Counter failures;

    public CleanupMeters(MeterRegistry registry) {
        this.complete = runs("complete", registry);
        this.behind = runs("behind", registry);
        this.deleted = Counter.builder(IdempotencyMeters.CLEANUP_DELETED)
                .description("Messages that the cleanup forgot")
                .register(registry);
        this.failures = Counter.builder(IdempotencyMeters.CLEANUP_FAILURES)
                .description("Runs of the cleanup that failed")
                .register(registry);
    }

    private static Timer runs(String result, MeterRegistry registry) {
        return Timer.builder(IdempotencyMeters.CLEANUP)
                .description("Runs of the cleanup")
                .tag(IdempotencyMeters.RESULT, result)
                .register(registry);
    }

    @Override
    public void cleanupRan(CleanupRun run) {
        this.deleted.increment(run.deleted());
        if (run.failed()) {
            this.failures.increment();
        } else {
            (run.keepsUp() ? this.complete : this.behind).record(run.took());
        }
    }
}
