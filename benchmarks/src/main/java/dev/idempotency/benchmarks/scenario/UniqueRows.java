package dev.idempotency.benchmarks.scenario;

import dev.idempotency.benchmarks.harness.BenchmarkApplication;
import dev.idempotency.benchmarks.measured.MeasuredListener;
import dev.idempotency.benchmarks.measured.MeasuredRecordListeners;
import dev.idempotency.benchmarks.report.ResultTable;
import java.util.List;

/** The cost of detecting duplicates by a constraint, for record listeners that insert a unique row anyway. */
public final class UniqueRows implements Scenario {

    @Override
    public ResultTable measure(Setting setting) {
        List<MeasuredListener> listeners = MeasuredRecordListeners.ofUniqueRows();
        int messages = setting.sizes().messages();
        try (BenchmarkApplication application =
                BenchmarkApplication.start(setting.database(), MeasuredListener.classesOf(listeners))) {
            ComparedRates compared =
                    ListenerComparison.ofNewMessages(application, listeners, setting.sizes(), messages);
            return new ResultTable(
                    "Record listeners whose rows are unique",
                    setting.describeRounds(messages),
                    ComparedRates.COLUMNS,
                    compared.rowsComparedWith(listeners.get(0).name()),
                    compared.rates());
        }
    }
}
