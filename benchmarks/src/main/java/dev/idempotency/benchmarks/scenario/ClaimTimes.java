package dev.idempotency.benchmarks.scenario;

import dev.idempotency.event.ConsumerDescription;
import dev.idempotency.event.IdempotencyEventListener;
import java.util.ArrayList;
import java.util.List;

/** Records the time of each claim. */
class ClaimTimes implements IdempotencyEventListener {

    private final List<Double> micros = new ArrayList<>();

    @Override
    public IdempotencyEventListener forConsumer(ConsumerDescription consumer) {
        return new IdempotencyEventListener() {

            @Override
            public void claimAnswered(int claimed, int duplicates, long nanos) {
                remember(nanos);
            }
        };
    }

    private synchronized void remember(long nanos) {
        this.micros.add(nanos / 1e3);
    }

    synchronized void forget() {
        this.micros.clear();
    }

    synchronized List<Double> micros() {
        return List.copyOf(this.micros);
    }
}
