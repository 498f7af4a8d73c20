package dev.idempotency.retention;

import dev.idempotency.observe.ConsumerDescription;
import dev.idempotency.observe.ConsumerObserver;
import dev.idempotency.observe.IdempotencyObserver;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** The consumers of this application and how long each remembers, learnt at start-up. */
public final class ConsumerRetentions implements IdempotencyObserver {

    private final Map<String, Duration> retentions = new ConcurrentHashMap<>();

    @Override
    public ConsumerObserver observe(ConsumerDescription consumer) {
        // Whichever remembers longer is right for both.
        this.retentions.merge(
                consumer.name(), consumer.retention(), (one, other) -> one.compareTo(other) > 0 ? one : other);
        return ConsumerObserver.NO_OP;
    }

    /** How long each consumer remembers, by its name. */
    public Map<String, Duration> byConsumer() {
        return Map.copyOf(this.retentions);
    }
}
