package dev.idempotency.benchmarks.scenario;

import dev.idempotency.benchmarks.harness.AlternatingListeners;
import dev.idempotency.benchmarks.harness.BenchmarkApplication;
import dev.idempotency.benchmarks.measured.MeasuredListener;
import dev.idempotency.benchmarks.measured.MeasuredRecordListeners;
import dev.idempotency.benchmarks.report.LineChart;
import dev.idempotency.benchmarks.report.ResultTable;
import dev.idempotency.benchmarks.report.Spread;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Record listeners with rows in their table before the run, from none to ten million: processed messages, or positions of
 * partitions, more than any application has.
 */
public final class Growth implements Scenario {

    private static final MeasuredListener RAW = MeasuredRecordListeners.RAW;

    @Override
    public ResultTable measure(Setting setting) {
        Sizes sizes = setting.sizes().shorter();
        List<MeasuredListener> listeners = setting.selection().of(MeasuredRecordListeners.scaled(), RAW);
        int messages = sizes.messages();
        int supply = sizes.supply(messages) * sizes.tableRows().size();
        try (BenchmarkApplication application =
                BenchmarkApplication.start(setting.database(), MeasuredListener.classesOf(listeners))) {
            Map<MeasuredListener, FilledTables> tables = new LinkedHashMap<>();
            listeners.stream()
                    .filter(MeasuredListener::deduplicates)
                    .forEach(listener -> tables.put(listener, new FilledTables(application.jdbc(), listener)));
            try {
                tables.forEach(
                        (listener, filled) -> sizes.tableRows().forEach(rows -> filled.fill(rows, listener.id())));
                listeners.forEach(listener -> listener.forgetAll(application.jdbc()));
                application.publish(supply);
                ComparedRates compared = measure(application, tables, sizes, supply);
                return new ResultTable(
                                "Growth: rows in the table before the run",
                                setting.with(sizes).describeRounds(messages),
                                ComparedRates.COLUMNS,
                                compared.rowsComparedWith(RAW.name()),
                                compared.rates())
                        .withChart(chart(compared, tables.keySet(), sizes.tableRows()));
            } finally {
                tables.values().forEach(filled -> filled.drop(sizes.tableRows()));
            }
        }
    }

    private static ComparedRates measure(
            BenchmarkApplication application, Map<MeasuredListener, FilledTables> tables, Sizes sizes, int supply) {
        List<MeasuredListener> listeners = new ArrayList<>(tables.keySet());
        listeners.add(0, RAW);
        int messages = sizes.messages();
        try (AlternatingListeners turns = application.alternate(
                listeners.stream().map(MeasuredListener::id).toList(), supply)) {
            List<Variant> variants = new ArrayList<>();
            variants.add(new Variant(
                    RAW.name(), () -> turns.measure(RAW.id(), messages).recordsPerSecond()));
            tables.forEach((listener, filled) -> {
                for (int rows : sizes.tableRows()) {
                    variants.add(new Variant(
                            name(listener, rows),
                            () -> filled.with(rows, () -> turns.measure(listener.id(), messages)
                                    .recordsPerSecond())));
                }
            });
            ComparedRates compared = RoundRobin.run(variants, sizes, () -> {});
            listeners.forEach(listener -> listener.checkEffects(application.jdbc(), turns.total(listener.id())));
            return compared;
        }
    }

    private static LineChart chart(
            ComparedRates compared, Iterable<MeasuredListener> listeners, List<Integer> tableRows) {
        List<LineChart.Line> lines = new ArrayList<>();
        lines.add(new LineChart.Line(
                RAW.name(),
                tableRows.stream()
                        .map(rows -> new LineChart.Point(rows / 1e6, new Spread(1, 1, 1)))
                        .toList()));
        for (MeasuredListener listener : listeners) {
            List<LineChart.Point> points = new ArrayList<>();
            for (int rows : tableRows) {
                Spread ratio = compared.ratio(name(listener, rows), RAW.name());
                if (ratio != null) {
                    points.add(new LineChart.Point(rows / 1e6, ratio));
                }
            }
            lines.add(new LineChart.Line(listener.name(), points));
        }
        return new LineChart(
                "growth",
                "What a growing table costs",
                "rows in the table before, in millions",
                "rate, as a ratio to the raw listener's",
                lines);
    }

    private static String name(MeasuredListener listener, int rows) {
        return "%s, %,d rows before".formatted(listener.name(), rows);
    }
}
