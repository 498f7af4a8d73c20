package dev.idempotency.metrics;

import dev.idempotency.MessageId;
import dev.idempotency.inbox.InboxObserver;
import dev.idempotency.observe.ConsumerDescription;
import dev.idempotency.observe.ConsumerObserver;
import dev.idempotency.observe.IdempotencyObserver;
import dev.idempotency.reconciliation.ReconciliationObserver;
import dev.idempotency.reconciliation.ReconciliationOutcome;
import dev.idempotency.reconciliation.ReconciliationReport;
import dev.idempotency.reconciliation.ReconciliationReport.State;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** Counts what operators do: reconciliations, and replays from the inbox. */
public final class OperatorMeterObserver implements IdempotencyObserver, InboxObserver, ReconciliationObserver {

    private final MeterRegistry registry;
    private final Map<String, Double> missing = new ConcurrentHashMap<>();

    public OperatorMeterObserver(MeterRegistry registry) {
        this.registry = registry;
    }

    @Override
    public ConsumerObserver observe(ConsumerDescription consumer) {
        String name = consumer.name();
        Gauge.builder(IdempotencyMeters.RECONCILIATION_MISSING, () -> this.missing.getOrDefault(name, Double.NaN))
                .description("Messages that the last reconciliation missed and did not send again")
                .tag(IdempotencyMeters.CONSUMER, name)
                .register(this.registry);
        // Registered before there is anything to count.
        reconciliations(name, State.COMPLETED);
        replays(name);
        unrecorded(name);
        return ConsumerObserver.NO_OP;
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
    public void reconciled(ReconciliationReport report) {
        reconciliations(report.consumer(), report.state()).record(report.took());
        double found = report.count(ReconciliationOutcome.MISSING) - report.replayed();
        if (report.state() == State.COMPLETED || found > 0) {
            this.missing.put(report.consumer(), found);
        }
    }

    private Timer reconciliations(String consumer, State state) {
        String result = state.name().toLowerCase(Locale.ROOT);
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
