package dev.idempotency.benchmarks.scenario;

import dev.idempotency.benchmarks.contender.Contender;
import dev.idempotency.benchmarks.contender.RecordContenders;
import dev.idempotency.benchmarks.report.ResultTable;
import dev.idempotency.benchmarks.stage.BenchmarkApplication;
import dev.idempotency.benchmarks.stage.Turns;
import java.util.ArrayList;
import java.util.List;

/** Record listeners with messages in the table before the run: nothing, a million, ten million. */
public final class TableSize implements Scenario {

    @Override
    public ResultTable measure(Setting setting) {
        Contender raw = RecordContenders.RAW;
        Contender idempotent = RecordContenders.IDEMPOTENT;
        Sizes sizes = setting.sizes();
        int messages = sizes.messages();
        int supply = sizes.supply(messages) * sizes.tableRows().size();
        try (BenchmarkApplication application =
                BenchmarkApplication.start(setting.database(), Contender.classesOf(RecordContenders.ours()))) {
            FilledTables tables = new FilledTables(application.jdbc());
            sizes.tableRows().forEach(rows -> tables.fill(rows, idempotent.listener()));
            RecordContenders.ours().forEach(contender -> contender.forgetAll(application.jdbc()));
            application.publish(supply);
            try (Turns turns = application.takeTurns(List.of(raw.listener(), idempotent.listener()), supply)) {
                List<Variant> variants = new ArrayList<>();
                variants.add(new Variant(
                        raw.name(), () -> turns.give(raw.listener(), messages).recordsPerSecond()));
                for (int rows : sizes.tableRows()) {
                    variants.add(new Variant(
                            "`@IdempotentListener`, %,d rows before".formatted(rows),
                            () -> tables.with(rows, () -> turns.give(idempotent.listener(), messages)
                                    .recordsPerSecond())));
                }
                ComparedRates compared = RoundRobin.run(variants, sizes, () -> {});
                idempotent.checkEffects(application.jdbc(), turns.total(idempotent.listener()));
                return new ResultTable(
                        "Rows in the table before the run",
                        setting.describeRounds(messages),
                        ComparedRates.COLUMNS,
                        compared.rowsComparedWith(raw.name()),
                        compared.rates());
            } finally {
                tables.drop(sizes.tableRows());
            }
        }
    }
}
