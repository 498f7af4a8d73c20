package dev.idempotency.benchmarks.scenario;

import dev.idempotency.benchmarks.harness.BenchmarkApplication;
import dev.idempotency.benchmarks.harness.Measurement;
import dev.idempotency.benchmarks.measured.MeasuredListener;
import dev.idempotency.benchmarks.measured.MeasuredRecordListeners;
import dev.idempotency.benchmarks.report.Cell;
import dev.idempotency.benchmarks.report.ResultTable;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The latency of a message without a backlog: messages are published at a fixed rate that all listeners keep up with. */
public final class Latency implements Scenario {

    private static final List<String> COLUMNS = List.of("", "p50 (µs)", "p99 (µs)");

    /** The number of rounds after a warm-up. */
    private static final int ROUNDS = 3;

    @Override
    public ResultTable measure(Setting setting) {
        Sizes sizes = setting.sizes();
        int messages = sizes.perSecond() * sizes.rateSeconds();
        List<Class<?>> classes = new ArrayList<>(MeasuredListener.classesOf(MeasuredRecordListeners.ours()));
        classes.add(ClaimTimes.class);
        Map<String, List<Double>> samples = new LinkedHashMap<>();
        try (BenchmarkApplication application = BenchmarkApplication.start(setting.database(), classes)) {
            ClaimTimes claims = application.bean(ClaimTimes.class);
            for (int round = 0; round <= ROUNDS; round++) {
                if (round == 1) {
                    samples.clear();
                    claims.forget();
                }
                for (MeasuredListener listener : MeasuredRecordListeners.ours()) {
                    listener.forgetAll(application.jdbc());
                    Measurement measurement = application.consumeAtRate(listener.id(), messages, sizes.perSecond());
                    listener.checkEffects(application.jdbc(), messages);
                    List<Double> micros =
                            samples.computeIfAbsent(listener.name() + ", whole delivery", name -> new ArrayList<>());
                    for (long nanos : measurement.latencies()) {
                        micros.add(nanos / 1e3);
                    }
                }
            }
            samples.put("the claim alone", claims.micros());
        }
        List<List<Cell>> rows = samples.entrySet().stream()
                .map(entry -> List.of(
                        Cell.of(entry.getKey()),
                        Cell.of(percentile(entry.getValue(), 50), 0),
                        Cell.of(percentile(entry.getValue(), 99), 0)))
                .toList();
        return new ResultTable(
                "Latency at %d messages per second".formatted(sizes.perSecond()),
                setting.describe("%,d messages a round, %d rounds".formatted(messages, ROUNDS)),
                COLUMNS,
                rows,
                Map.of());
    }

    private static double percentile(List<Double> values, int percent) {
        List<Double> sorted = values.stream().sorted().toList();
        return sorted.get(Math.min(sorted.size() - 1, sorted.size() * percent / 100));
    }
}
