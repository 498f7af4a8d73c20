package dev.idempotency.benchmarks.scenario;

import dev.idempotency.benchmarks.harness.BenchmarkApplication;
import dev.idempotency.benchmarks.measured.MeasuredBatchListeners;
import dev.idempotency.benchmarks.measured.MeasuredListener;
import dev.idempotency.benchmarks.report.Cell;
import dev.idempotency.benchmarks.report.Headline;
import dev.idempotency.benchmarks.report.ResultTable;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/** Batch listeners: one transaction per batch. Each is compared with the raw one of the same size and work. */
public final class BatchListeners implements Scenario {

    @Override
    public ResultTable measure(Setting setting) {
        return measure("Batch listeners", comparisons(setting.selection()), setting);
    }

    /** Measures groups of listeners; the first listener of each group is the one for comparison. */
    static ResultTable measure(
            String title, Map<MeasuredListener, List<MeasuredListener>> comparisons, Setting setting) {
        List<MeasuredListener> listeners =
                comparisons.values().stream().flatMap(List::stream).toList();
        int messages = setting.sizes().batchMessages();
        try (BenchmarkApplication application =
                BenchmarkApplication.start(setting.database(), MeasuredListener.classesOf(listeners))) {
            ComparedRates compared =
                    ListenerComparison.ofNewMessages(application, listeners, setting.sizes(), messages);
            List<List<Cell>> rows = new ArrayList<>();
            List<Headline> headlines = new ArrayList<>();
            comparisons.forEach((raw, measured) -> {
                measured.forEach(listener -> rows.add(compared.row(listener.name(), raw.name())));
                headlines.addAll(compared.headlines(
                        MeasuredBatchListeners.headlines().stream()
                                .filter(measured::contains)
                                .toList(),
                        raw,
                        setting.durability()));
            });
            return new ResultTable(
                            title, setting.describeRounds(messages), ComparedRates.COLUMNS, rows, compared.rates())
                    .withHeadlines(headlines);
        }
    }

    /** Returns raw listeners, each with itself and the listeners that are compared with it. */
    private static Map<MeasuredListener, List<MeasuredListener>> comparisons(Selection selection) {
        Map<MeasuredListener, List<MeasuredListener>> comparisons = new LinkedHashMap<>();
        MeasuredBatchListeners.comparisons().forEach((raw, others) -> {
            List<MeasuredListener> measured =
                    others.stream().filter(selection::includes).toList();
            if (!measured.isEmpty() || selection.includes(raw)) {
                comparisons.put(
                        raw, Stream.concat(Stream.of(raw), measured.stream()).toList());
            }
        });
        return comparisons;
    }
}
