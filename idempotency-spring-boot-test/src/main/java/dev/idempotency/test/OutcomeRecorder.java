package dev.idempotency.test;

import dev.idempotency.event.ConsumerDescription;
import dev.idempotency.event.IdempotencyEventListener;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** Records the outcomes of each consumer's messages. */
final class OutcomeRecorder implements IdempotencyEventListener {

    private final Map<String, ConsumerOutcomes> byConsumer = new ConcurrentHashMap<>();

    @Override
    public IdempotencyEventListener forConsumer(ConsumerDescription consumer) {
        return of(consumer.name());
    }

    /** Returns the outcomes of a consumer, or the published records of a listener without protection. */
    ConsumerOutcomes of(String consumer) {
        return this.byConsumer.computeIfAbsent(consumer, name -> new ConsumerOutcomes());
    }

    void reset() {
        this.byConsumer.values().forEach(ConsumerOutcomes::reset);
    }
}
