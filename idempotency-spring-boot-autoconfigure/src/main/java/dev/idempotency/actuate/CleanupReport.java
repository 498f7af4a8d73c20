package dev.idempotency.actuate;

import dev.idempotency.event.CleanupRun;
import dev.idempotency.retention.Cleanup;
import dev.idempotency.retention.Cleanup.CleanupStatus;
import java.time.Duration;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/** The cleanup of this instance. */
record CleanupReport(@Nullable Success lastRun, @Nullable Failure failure) {

    /** A {@link CleanupRun} that did not fail. */
    record Success(Instant at, Duration took, long deleted, boolean keepsUp) {}

    /** When a run failed, and why. */
    record Failure(Instant at, String reason) {}

    /** The report on a cleanup; {@code null} where the application has none of ours. */
    static CleanupReport of(@Nullable Cleanup cleanup) {
        if (cleanup == null) {
            return new CleanupReport(null, null);
        }
        CleanupStatus status = cleanup.status();
        CleanupRun success = status.lastSuccess();
        CleanupRun last = status.lastRun();
        return new CleanupReport(
                (success != null)
                        ? new Success(success.at(), success.took(), success.deleted(), success.keepsUp())
                        : null,
                (last != null && last.failure() != null)
                        ? new Failure(last.at(), last.failure().toString())
                        : null);
    }
}
