package dev.idempotency.benchmarks.scenario;

import dev.idempotency.benchmarks.harness.BenchmarkApplication;
import dev.idempotency.benchmarks.measured.MeasuredListener;
import dev.idempotency.benchmarks.measured.MeasuredRecordListeners;
import dev.idempotency.benchmarks.report.ResultTable;
import java.util.List;

/** Record listeners: one message, one transaction. */
public final class RecordListeners implements Scenario {

    @Override
    public ResultTable measure(Setting setting) {
        List<MeasuredListener> listeners = MeasuredRecordListeners.all();
        int messages = setting.sizes().messages();
        try (BenchmarkApplication application =
                BenchmarkApplication.start(setting.database(), MeasuredListener.classesOf(listeners))) {
            ComparedRates compared =
                    ListenerComparison.ofNewMessages(application, listeners, setting.sizes(), messages);
            return new ResultTable(
                    "Record listeners",
                    setting.describeRounds(messages),
                    ComparedRates.COLUMNS,
                    compared.rowsComparedWith(MeasuredRecordListeners.RAW.name()),
                    compared.rates());
        }
    }
}
