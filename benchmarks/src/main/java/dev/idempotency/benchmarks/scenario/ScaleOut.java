package dev.idempotency.benchmarks.scenario;

import dev.idempotency.benchmarks.harness.BenchmarkApplication;
import dev.idempotency.benchmarks.measured.MeasuredListener;
import dev.idempotency.benchmarks.measured.MeasuredRecordListeners;
import dev.idempotency.benchmarks.report.Cell;
import dev.idempotency.benchmarks.report.LineChart;
import dev.idempotency.benchmarks.report.ResultTable;
import dev.idempotency.benchmarks.report.Spread;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Record listeners with several consumers on as many partitions, compared with the raw one with the same number; and the waits
 * of the database's sessions, which are sampled in separate turns whose rates do not count.
 */
public final class ScaleOut implements Scenario {

    private static final MeasuredListener RAW = MeasuredRecordListeners.RAW;

    @Override
    public ResultTable measure(Setting setting) {
        Sizes sizes = setting.sizes().shorter();
        List<MeasuredListener> listeners = setting.selection().of(MeasuredRecordListeners.scaled(), RAW);
        List<List<Cell>> rows = new ArrayList<>();
        Map<String, List<Double>> samples = new LinkedHashMap<>();
        Map<String, List<LineChart.Point>> points = new LinkedHashMap<>();
        for (int consumers : sizes.consumers()) {
            try (BenchmarkApplication application =
                    BenchmarkApplication.start(setting.database(), consumers, MeasuredListener.classesOf(listeners))) {
                ComparedRates compared =
                        ListenerComparison.ofNewMessages(application, listeners, sizes, sizes.messages());
                Map<MeasuredListener, String> waits =
                        ListenerComparison.waitsOfNewMessages(application, listeners, 2 * sizes.messages());
                for (MeasuredListener listener : listeners) {
                    String name = "%s, consumers: %d".formatted(listener.name(), consumers);
                    List<Double> rates = compared.rates(listener.name());
                    List<Cell> row = new ArrayList<>(compared.row(listener.name(), RAW.name()));
                    row.set(0, Cell.of(name));
                    row.add(Cell.of(waits.getOrDefault(listener, "–")));
                    rows.add(row);
                    samples.put(name, rates);
                    if (!rates.isEmpty()) {
                        points.computeIfAbsent(listener.name(), any -> new ArrayList<>())
                                .add(new LineChart.Point(consumers, Spread.ofMedian(rates)));
                    }
                }
            }
        }
        List<String> columns = new ArrayList<>(ComparedRates.COLUMNS);
        columns.add("the database's sessions, in transactions");
        return new ResultTable(
                        "Scale-out: consumers on as many partitions",
                        setting.with(sizes).describeRounds(sizes.messages()) + " Each consumer has as many.",
                        columns,
                        rows,
                        samples)
                .withChart(chart(points));
    }

    private static LineChart chart(Map<String, List<LineChart.Point>> points) {
        List<LineChart.Line> lines = new ArrayList<>();
        points.forEach((name, ofListener) -> lines.add(new LineChart.Line(name, ofListener)));
        return new LineChart(
                "scale-out",
                "Messages per second with several consumers",
                "consumers, on as many partitions",
                "messages per second",
                lines);
    }
}
