package dev.idempotency.benchmarks.scenario;

import dev.idempotency.benchmarks.harness.BenchmarkApplication;
import dev.idempotency.benchmarks.measured.MeasuredListener;
import dev.idempotency.benchmarks.measured.MeasuredRecordListeners;
import dev.idempotency.benchmarks.report.ResultTable;
import java.util.List;

/** Record listeners: one transaction per message. */
public final class RecordListeners implements Scenario {

    @Override
    public ResultTable measure(Setting setting) {
        MeasuredListener raw = MeasuredRecordListeners.RAW;
        List<MeasuredListener> listeners = setting.selection().of(MeasuredRecordListeners.all(), raw);
        int messages = setting.sizes().messages();
        try (BenchmarkApplication application =
                BenchmarkApplication.start(setting.database(), MeasuredListener.classesOf(listeners))) {
            ComparedRates compared =
                    ListenerComparison.ofNewMessages(application, listeners, setting.sizes(), messages);
            return new ResultTable(
                            "Record listeners",
                            setting.describeRounds(messages),
                            ComparedRates.COLUMNS,
                            compared.rowsComparedWith(raw.name()),
                            compared.rates())
                    .withHeadlines(compared.headlines(MeasuredRecordListeners.headlines(), raw, setting.durability()));
        }
    }
}
