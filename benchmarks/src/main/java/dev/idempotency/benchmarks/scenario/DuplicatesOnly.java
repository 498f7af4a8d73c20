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
        Sizes sizes = setting.sizes().shorter();
        int messages = sizes.messages();
        try (BenchmarkApplication application =
                BenchmarkApplication.start(setting.database(), Contender.classesOf(contenders))) {
            ComparedRates compared = ContenderComparison.ofDuplicates(application, contenders, sizes, messages);
            return new ResultTable(
                    "Duplicates only, after a rewind",
                    new Setting(setting.durability(), setting.database(), sizes).describeRounds(messages),
                    ComparedRates.COLUMNS,
                    compared.rowsComparedWith(RecordContenders.RAW.name()),
                    compared.rates());
        }
    }
}
