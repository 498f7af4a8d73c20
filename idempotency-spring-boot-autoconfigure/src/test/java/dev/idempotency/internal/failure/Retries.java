package dev.idempotency.internal.failure;

import dev.idempotency.event.ConsumerDescription;
import dev.idempotency.event.IdempotencyEventListener;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;

/** Counts the retries of each consumer. */
class Retries implements IdempotencyEventListener {

    private final Map<String, AtomicInteger> counts = new ConcurrentHashMap<>();

    int of(String consumer) {
        return this.counts
                .computeIfAbsent(consumer, name -> new AtomicInteger())
                .get();
    }

    @Override
    public IdempotencyEventListener forConsumer(ConsumerDescription consumer) {
        AtomicInteger count = this.counts.computeIfAbsent(consumer.name(), name -> new AtomicInteger());
        return new IdempotencyEventListener() {

            @Override
            public void retried(int messages) {
                count.incrementAndGet();
            }
        };
    }
}
