package dev.idempotency.benchmarks.scenario;

import dev.idempotency.benchmarks.contender.BatchContenders;
import dev.idempotency.benchmarks.contender.Contender;
import dev.idempotency.benchmarks.contender.RecordContenders;
import dev.idempotency.benchmarks.report.ResultTable;
import dev.idempotency.benchmarks.stage.BenchmarkApplication;
import java.util.ArrayList;
import java.util.List;

/**
 * A rewind: nothing but messages that have been processed. The raw listener applies them all again, which is what the
 * others are compared with.
 */
public final class DuplicatesOnly implements Scenario {

    @Override
    public ResultTable measure(Setting setting) {
        List<Contender> contenders = new ArrayList<>(RecordContenders.all());
        contenders.add(BatchContenders.IDEMPOTENT_500);
        int messages = setting.sizes().messages();
        try (BenchmarkApplication application =
                BenchmarkApplication.start(setting.database(), Contenders.classes(contenders))) {
            Standings standings = Contest.ofDuplicates(application, contenders, setting.sizes(), messages);
            return new ResultTable(
                    "Duplicates only, after a rewind",
                    setting.describeRounds(messages),
                    Standings.COLUMNS,
                    standings.rowsComparedWith(RecordContenders.RAW.name()),
                    standings.rates());
        }
    }
}
