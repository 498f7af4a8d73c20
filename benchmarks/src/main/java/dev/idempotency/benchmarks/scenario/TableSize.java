package dev.idempotency.benchmarks.scenario;

import dev.idempotency.benchmarks.contender.Contender;
import dev.idempotency.benchmarks.contender.RecordContenders;
import dev.idempotency.benchmarks.report.ResultTable;
import dev.idempotency.benchmarks.stage.BenchmarkApplication;
import java.util.ArrayList;
import java.util.List;

/** Record listeners with messages in the table before the run: nothing, a million, ten million. */
public final class TableSize implements Scenario {

    @Override
    public ResultTable measure(Setting setting) {
        Contender contender = RecordContenders.IDEMPOTENT;
        int messages = setting.sizes().messages();
        try (BenchmarkApplication application =
                BenchmarkApplication.start(setting.database(), Contenders.classes(RecordContenders.ours()))) {
            FilledTables tables = new FilledTables(application.jdbc());
            List<Lane> lanes = new ArrayList<>();
            lanes.add(Lane.ofNewMessages(application, RecordContenders.RAW, messages));
            for (int rows : setting.sizes().tableRows()) {
                tables.fill(rows, contender.listener());
                lanes.add(new Lane("`@IdempotentListener`, %,d rows before".formatted(rows), () -> {
                    contender.forgetEffects(application.jdbc());
                    double rate = tables.with(rows, () -> application
                            .consume(contender.listener(), messages)
                            .recordsPerSecond());
                    contender.checkEffects(application.jdbc(), messages);
                    return rate;
                }));
            }
            Standings standings = Race.run(lanes, setting.sizes(), () -> application.publish(messages));
            tables.drop(setting.sizes().tableRows());
            return new ResultTable(
                    "Rows in the table before the run",
                    setting.describeRounds(),
                    Standings.COLUMNS,
                    standings.rowsComparedWith(RecordContenders.RAW.name()),
                    standings.rates());
        }
    }
}
