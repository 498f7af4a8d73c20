package dev.idempotency.benchmarks.scenario;

import dev.idempotency.benchmarks.contender.Contender;
import dev.idempotency.benchmarks.contender.RecordContenders;
import dev.idempotency.benchmarks.report.ResultTable;
import dev.idempotency.benchmarks.stage.BenchmarkApplication;
import java.util.List;

/** Record listeners: one message, one transaction. */
public final class RecordListeners implements Scenario {

    @Override
    public ResultTable measure(Setting setting) {
        List<Contender> contenders = RecordContenders.all();
        int messages = setting.sizes().messages();
        try (BenchmarkApplication application =
                BenchmarkApplication.start(setting.database(), Contender.classesOf(contenders))) {
            ComparedRates compared =
                    ContenderComparison.ofNewMessages(application, contenders, setting.sizes(), messages);
            return new ResultTable(
                    "Record listeners",
                    setting.describeRounds(messages),
                    ComparedRates.COLUMNS,
                    compared.rowsComparedWith(RecordContenders.RAW.name()),
                    compared.rates());
        }
    }
}
