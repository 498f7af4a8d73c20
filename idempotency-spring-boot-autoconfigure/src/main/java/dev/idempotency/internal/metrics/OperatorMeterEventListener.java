package dev.idempotency.internal.metrics;

import dev.idempotency.MessageId;
import dev.idempotency.event.ConsumerDescription;
import dev.idempotency.event.IdempotencyEventListener;
import dev.idempotency.event.Reconciled;
import dev.idempotency.metrics.IdempotencyMeters;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** Counts what operators do: reconciliations, and replays from the inbox. */
public final class OperatorMeterEventListener implements IdempotencyEventListener {

    private final MeterRegistry registry;
    private final Map<String, Double> missing = new ConcurrentHashMap<>();

    public OperatorMeterEventListener(MeterRegistry registry) {
        this.registry = registry;
    }

    @Override
    public IdempotencyEventListener forConsumer(ConsumerDescription consumer) {
        String name = consumer.name();
        Gauge.builder(IdempotencyMeters.RECONCILIATION_MISSING, () -> this.missing.getOrDefault(name, Double.NaN))
                .description("Messages that the last reconciliation missed and did not send again")
                .tag(IdempotencyMeters.CONSUMER, name)
                .register(this.registry);
        // Registered before there is anything to count.
        reconciliations(name, "completed");
        replays(name);
        unrecorded(name);
        return IdempotencyEventListener.NO_OP;
    }

    @Override
    public void replayed(MessageId id) {
        replays(id.consumer()).increment();
    }

    @Override
    public void unrecorded(String consumer, RuntimeException reason) {
        unrecorded(consumer).increment();
    }

    @Override
    public void reconciled(Reconciled result) {
        reconciliations(result.consumer(), result.result()).record(result.took());
        if (result.isComplete() || result.missing() > 0) {
            this.missing.put(result.consumer(), (double) result.missing());
        }
    }

    private Timer reconciliations(String consumer, String result) {
        return Timer.builder(IdempotencyMeters.RECONCILIATION)
                .description("Reconciliations")
                .tags(IdempotencyMeters.CONSUMER, consumer, IdempotencyMeters.RESULT, result)
                .register(this.registry);
    }

    private Counter replays(String consumer) {
        return counter(
                IdempotencyMeters.INBOX_REPLAYS,
                "Messages of the inbox that were sent to their topics again",
                consumer);
    }

    private Counter unrecorded(String consumer) {
        return counter(
                IdempotencyMeters.INBOX_UNRECORDED, "Failures that could not be recorded in the inbox", consumer);
    }

    private Counter counter(String name, String description, String consumer) {
        return Counter.builder(name)
                .description(description)
                .tag(IdempotencyMeters.CONSUMER, consumer)
                .register(this.registry);
    }
}
