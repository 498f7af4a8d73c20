package dev.idempotency.benchmarks.scenario;

import dev.idempotency.benchmarks.harness.AlternatingListeners;
import dev.idempotency.benchmarks.harness.BenchmarkApplication;
import dev.idempotency.benchmarks.measured.MeasuredListener;
import dev.idempotency.benchmarks.measured.MeasuredRecordListeners;
import dev.idempotency.benchmarks.report.ResultTable;
import java.util.ArrayList;
import java.util.List;

/** Record listeners with messages in the table before the run: nothing, a million, ten million. */
public final class TableSize implements Scenario {

    @Override
    public ResultTable measure(Setting setting) {
        MeasuredListener raw = MeasuredRecordListeners.RAW;
        MeasuredListener idempotent = MeasuredRecordListeners.IDEMPOTENT;
        Sizes sizes = setting.sizes();
        int messages = sizes.messages();
        int supply = sizes.supply(messages) * sizes.tableRows().size();
        try (BenchmarkApplication application = BenchmarkApplication.start(
                setting.database(), MeasuredListener.classesOf(MeasuredRecordListeners.ours()))) {
            FilledTables tables = new FilledTables(application.jdbc());
            sizes.tableRows().forEach(rows -> tables.fill(rows, idempotent.id()));
            MeasuredRecordListeners.ours().forEach(listener -> listener.forgetAll(application.jdbc()));
            application.publish(supply);
            try (AlternatingListeners turns = application.alternate(List.of(raw.id(), idempotent.id()), supply)) {
                List<Variant> variants = new ArrayList<>();
                variants.add(new Variant(
                        raw.name(), () -> turns.measure(raw.id(), messages).recordsPerSecond()));
                for (int rows : sizes.tableRows()) {
                    variants.add(new Variant(
                            "`@IdempotentListener`, %,d rows before".formatted(rows),
                            () -> tables.with(rows, () -> turns.measure(idempotent.id(), messages)
                                    .recordsPerSecond())));
                }
                ComparedRates compared = RoundRobin.run(variants, sizes, () -> {});
                idempotent.checkEffects(application.jdbc(), turns.total(idempotent.id()));
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
