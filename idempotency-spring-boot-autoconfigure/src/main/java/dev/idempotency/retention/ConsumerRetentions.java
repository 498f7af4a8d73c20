package dev.idempotency.retention;

import dev.idempotency.observe.ConsumerDescription;
import dev.idempotency.observe.ConsumerObserver;
import dev.idempotency.observe.IdempotencyObserver;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** The consumers of this application and how long each remembers, learnt at start-up. */
public final class ConsumerRetentions implements IdempotencyObserver {

    /** Less than this is refused. */
    public static final Duration SHORTEST = Duration.ofHours(1);

    private final Map<String, Duration> retentions = new ConcurrentHashMap<>();

    @Override
    public ConsumerObserver observe(ConsumerDescription consumer) {
        Duration retention = consumer.retention();
        if (retention.compareTo(SHORTEST) < 0) {
            throw new IllegalStateException(("The consumer '%s' (%s) would forget its messages after %s, but %s is the"
                            + " least: retries, rebalances and producers that send again bring duplicates later than"
                            + " that, and each would be processed again. Raise idempotency.retention or"
                            + " @IdempotentListener(retention = …).")
                    .formatted(consumer.name(), consumer.listener(), retention, SHORTEST));
        }
        // Whichever remembers longer is right for both.
        this.retentions.merge(consumer.name(), retention, (one, other) -> one.compareTo(other) > 0 ? one : other);
        return ConsumerObserver.NO_OP;
    }

    /** How long each consumer remembers, by its name. */
    public Map<String, Duration> byConsumer() {
        return Map.copyOf(this.retentions);
    }
}
