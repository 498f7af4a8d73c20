package dev.idempotency.actuate;

import dev.idempotency.definition.ListenerDefinitionRegistry;
import dev.idempotency.definition.ProtectedListener;
import dev.idempotency.metrics.ConsumerTallyRegistry;
import dev.idempotency.metrics.StoreWatch;
import dev.idempotency.retention.Cleanup;
import dev.idempotency.store.StoreStatistics;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Reports on the consumers of this instance. */
public final class ConsumerReports {

    private final Instant since = Instant.now();
    private final ListenerDefinitionRegistry definitions;
    private final ConsumerTallyRegistry tallies;
    private final StoreWatch store;
    private final @Nullable Cleanup cleanup;

    public ConsumerReports(
            ListenerDefinitionRegistry definitions,
            ConsumerTallyRegistry tallies,
            StoreWatch store,
            @Nullable Cleanup cleanup) {
        this.definitions = definitions;
        this.tallies = tallies;
        this.store = store;
        this.cleanup = cleanup;
    }

    IdempotencyReport all() {
        StoreStatistics statistics = this.store.current();
        List<ConsumerReport> consumers = listeners().values().stream()
                .map(listeners -> report(listeners, statistics))
                .toList();
        return new IdempotencyReport(
                this.since,
                consumers,
                new IdempotencyReport.StoreReport(statistics.rows()),
                CleanupReport.of(this.cleanup));
    }

    @Nullable
    ConsumerReport one(String consumer) {
        List<ProtectedListener> listeners = listeners().get(consumer);
        return (listeners != null) ? report(listeners, this.store.current()) : null;
    }

    Set<String> consumers() {
        return listeners().keySet();
    }

    private Map<String, List<ProtectedListener>> listeners() {
        return this.definitions.listeners().stream()
                .collect(Collectors.groupingBy(
                        listener -> listener.consumer().name(), TreeMap::new, Collectors.toList()));
    }

    private ConsumerReport report(List<ProtectedListener> listeners, StoreStatistics statistics) {
        String consumer = listeners.get(0).consumer().name();
        return ConsumerReport.of(
                listeners, this.tallies.of(consumer), statistics.oldestAges().get(consumer));
    }
}
