package dev.idempotency.benchmarks.scenario;

import dev.idempotency.benchmarks.harness.AlternatingListeners;
import dev.idempotency.benchmarks.harness.BenchmarkApplication;
import dev.idempotency.benchmarks.harness.DatabaseWaits;
import dev.idempotency.benchmarks.harness.ListenerFailedException;
import dev.idempotency.benchmarks.measured.MeasuredListener;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.springframework.jdbc.core.JdbcTemplate;

/** Listeners that take turns with the same messages, and whose effects are counted and checked after each round. */
final class ListenerComparison implements AutoCloseable {

    private final JdbcTemplate jdbc;
    private final List<MeasuredListener> listeners;
    private final AlternatingListeners turns;
    private final boolean duplicates;
    private final Map<MeasuredListener, Integer> checked = new HashMap<>();

    private ListenerComparison(
            BenchmarkApplication application, List<MeasuredListener> listeners, int supply, boolean duplicates) {
        this.jdbc = application.jdbc();
        this.listeners = listeners;
        this.duplicates = duplicates;
        this.turns = application.alternate(
                listeners.stream().map(MeasuredListener::id).toList(), supply);
    }

    /** Compares listeners with new messages, this many per turn. */
    static ComparedRates ofNewMessages(
            BenchmarkApplication application, List<MeasuredListener> listeners, Sizes sizes, int messages) {
        listeners.forEach(listener -> listener.forgetAll(application.jdbc()));
        application.publish(sizes.supply(messages));
        try (ListenerComparison comparison =
                new ListenerComparison(application, listeners, sizes.supply(messages), false)) {
            return comparison.compare(sizes, messages);
        }
    }

    /** Compares listeners with messages that all of them have processed before, this many per turn. */
    static ComparedRates ofDuplicates(
            BenchmarkApplication application, List<MeasuredListener> listeners, Sizes sizes, int messages) {
        int supply = sizes.supply(messages);
        listeners.forEach(listener -> listener.forgetAll(application.jdbc()));
        application.publish(supply);
        try (ListenerComparison first = new ListenerComparison(application, listeners, supply, false)) {
            listeners.forEach(listener -> first.turns.measure(listener.id(), supply - Sizes.LEFT_OVER));
            first.check();
        }
        try (ListenerComparison again = new ListenerComparison(application, listeners, supply, true)) {
            return again.compare(sizes, messages);
        }
    }

    /** Returns what the database's sessions wait for, with this many new messages; failing listeners are omitted. */
    static Map<MeasuredListener, String> waitsOfNewMessages(
            BenchmarkApplication application, List<MeasuredListener> listeners, int messages) {
        int supply = messages + Sizes.LEFT_OVER;
        application.publish(supply);
        Map<MeasuredListener, String> described = new HashMap<>();
        try (ListenerComparison comparison = new ListenerComparison(application, listeners, supply, false)) {
            for (MeasuredListener listener : listeners) {
                DatabaseWaits waits = new DatabaseWaits(comparison.jdbc);
                try {
                    waits.during(() -> comparison.turns.measure(listener.id(), messages));
                    described.put(listener, waits.describe());
                } catch (ListenerFailedException ex) {
                    // Already reported with its rates.
                }
            }
        }
        return described;
    }

    private ComparedRates compare(Sizes sizes, int messages) {
        List<Variant> variants = this.listeners.stream()
                .map(listener -> new Variant(
                        listener.name(),
                        () -> this.turns.measure(listener.id(), messages).recordsPerSecond()))
                .toList();
        return RoundRobin.run(variants, sizes, this::check);
    }

    private void check() {
        for (MeasuredListener listener : this.listeners) {
            int total = this.turns.total(listener.id());
            int inRound = total - this.checked.getOrDefault(listener, 0);
            listener.checkEffects(this.jdbc, (this.duplicates && listener.deduplicates()) ? 0 : inRound);
            listener.forgetEffects(this.jdbc);
            this.checked.put(listener, total);
        }
    }

    @Override
    public void close() {
        this.turns.close();
    }
}
