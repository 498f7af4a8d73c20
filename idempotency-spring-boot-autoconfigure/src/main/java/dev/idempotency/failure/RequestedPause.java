package dev.idempotency.failure;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** The pause that handling a failure on this thread has asked for, where Spring Kafka would sleep. */
final class RequestedPause {

    private final ThreadLocal<@Nullable Duration> requested = new ThreadLocal<>();

    void request(Duration duration) {
        this.requested.set(duration);
    }

    /** What was requested since it was last taken. */
    @Nullable
    Duration take() {
        Duration duration = this.requested.get();
        this.requested.remove();
        return duration;
    }
}
