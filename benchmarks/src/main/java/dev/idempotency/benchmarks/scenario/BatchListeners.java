package dev.idempotency.benchmarks.scenario;

import dev.idempotency.benchmarks.harness.BenchmarkApplication;
import dev.idempotency.benchmarks.measured.MeasuredBatchListeners;
import dev.idempotency.benchmarks.measured.MeasuredListener;
import dev.idempotency.benchmarks.report.Cell;
import dev.idempotency.benchmarks.report.ResultTable;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/** Batch listeners: one batch, one transaction. Each is compared with the raw one of the same size and work. */
public final class BatchListeners implements Scenario {

    @Override
    public ResultTable measure(Setting setting) {
        return measurePairs("Batch listeners", MeasuredBatchListeners.pairs(), setting);
    }

    /** Pairs of listeners: the second of each is compared with the first. */
    static ResultTable measurePairs(String title, Map<MeasuredListener, MeasuredListener> pairs, Setting setting) {
        List<MeasuredListener> listeners = pairs.entrySet().stream()
                .flatMap(pair -> Stream.of(pair.getKey(), pair.getValue()))
                .toList();
        int messages = setting.sizes().batchMessages();
        try (BenchmarkApplication application =
                BenchmarkApplication.start(setting.database(), MeasuredListener.classesOf(listeners))) {
            ComparedRates compared =
                    ListenerComparison.ofNewMessages(application, listeners, setting.sizes(), messages);
            List<List<Cell>> rows = new ArrayList<>();
            pairs.forEach((basis, other) -> {
                rows.add(compared.row(basis.name(), basis.name()));
                rows.add(compared.row(other.name(), basis.name()));
            });
            return new ResultTable(
                    title, setting.describeRounds(messages), ComparedRates.COLUMNS, rows, compared.rates());
        }
    }
}
