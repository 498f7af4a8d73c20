package dev.idempotency.metrics;

import dev.idempotency.observe.ConsumerDescription;
import dev.idempotency.observe.ConsumerObserver;
import dev.idempotency.observe.IdempotencyObserver;
import dev.idempotency.reconciliation.ReconciliationObserver;
import dev.idempotency.reconciliation.ReconciliationReport;
import dev.idempotency.reconciliation.ReconciliationReport.State;
import dev.idempotency.reconciliation.RecordFate;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** The meters of reconciliations, listed in {@link IdempotencyMeters}. */
public final class ReconciliationMeters implements ReconciliationObserver, IdempotencyObserver {

    private final MeterRegistry registry;
    private final Map<String, Double> missing = new ConcurrentHashMap<>();

    public ReconciliationMeters(MeterRegistry registry) {
        this.registry = registry;
    }

    /** Has the meters of a consumer there before there is anything to count. */
    @Override
    public ConsumerObserver observe(ConsumerDescription consumer) {
        String name = consumer.name();
        Gauge.builder(IdempotencyMeters.RECONCILIATION_MISSING, () -> this.missing.getOrDefault(name, Double.NaN))
                .description("Messages that the last reconciliation missed and did not send again")
                .tag(IdempotencyMeters.CONSUMER, name)
                .register(this.registry);
        runs(name, State.COMPLETED);
        return ConsumerObserver.NO_OP;
    }

    @Override
    public void reconciled(ReconciliationReport report) {
        runs(report.consumer(), report.state()).record(report.took());
        double found = report.count(RecordFate.MISSING) - report.replayed();
        if (report.state() == State.COMPLETED || found > 0) {
            this.missing.put(report.consumer(), found);
        }
    }

    private Timer runs(String consumer, State result) {
        return Timer.builder(IdempotencyMeters.RECONCILIATION)
                .description("Reconciliations")
                .tag(IdempotencyMeters.CONSUMER, consumer)
                .tag(IdempotencyMeters.RESULT, result.name().toLowerCase(Locale.ROOT))
                .register(this.registry);
    }
}
