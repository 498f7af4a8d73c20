package dev.idempotency.metrics;

import dev.idempotency.observe.ConsumerDescription;
import dev.idempotency.observe.ConsumerObserver;
import dev.idempotency.observe.IdempotencyObserver;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** Keeps a tally of every consumer, with or without Micrometer. */
public final class ConsumerTallyRegistry implements IdempotencyObserver {

    private final Map<String, ConsumerTally> tallies = new ConcurrentHashMap<>();

    @Override
    public ConsumerObserver observe(ConsumerDescription consumer) {
        return of(consumer.name());
    }

    /** The tally of a consumer. */
    public ConsumerTally of(String consumer) {
        return this.tallies.computeIfAbsent(consumer, name -> new ConsumerTally());
    }
}
