package dev.idempotency.benchmarks.scenario;

import dev.idempotency.benchmarks.harness.BenchmarkApplication;
import dev.idempotency.benchmarks.measured.MeasuredBatchListeners;
import dev.idempotency.benchmarks.measured.MeasuredListener;
import dev.idempotency.benchmarks.measured.MeasuredRecordListeners;
import dev.idempotency.benchmarks.report.ResultTable;
import java.util.ArrayList;
import java.util.List;

/**
 * A rewind: only messages that have been processed before. The raw listener applies them all again; the others are compared
 * with that.
 */
public final class DuplicatesOnly implements Scenario {

    @Override
    public ResultTable measure(Setting setting) {
        List<MeasuredListener> all = new ArrayList<>(MeasuredRecordListeners.all());
        all.addAll(MeasuredBatchListeners.withDuplicates());
        List<MeasuredListener> listeners = setting.selection().of(all, MeasuredRecordListeners.RAW);
        Sizes sizes = setting.sizes().shorter();
        int messages = sizes.messages();
        try (BenchmarkApplication application =
                BenchmarkApplication.start(setting.database(), MeasuredListener.classesOf(listeners))) {
            ComparedRates compared = ListenerComparison.ofDuplicates(application, listeners, sizes, messages);
            return new ResultTable(
                    "Duplicates only, after a rewind",
                    setting.with(sizes).describeRounds(messages),
                    ComparedRates.COLUMNS,
                    compared.rowsComparedWith(MeasuredRecordListeners.RAW.name()),
                    compared.rates());
        }
    }
}
