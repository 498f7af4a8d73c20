package dev.idempotency.benchmarks.scenario;

import dev.idempotency.benchmarks.harness.BenchmarkApplication;
import dev.idempotency.benchmarks.measured.MeasuredOperations;
import dev.idempotency.benchmarks.report.ResultTable;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.function.Consumer;
import java.util.stream.Stream;

/** Claims from code: one transaction per key, called by one thread. */
public final class Operations implements Scenario {

    private static final List<String> COLUMNS = List.of("", "ratio (median)", "95 % confidence", "calls/s (median)");

    @Override
    public ResultTable measure(Setting setting) {
        int calls = setting.sizes().messages();
        try (BenchmarkApplication application =
                BenchmarkApplication.start(setting.database(), MeasuredOperations.classes())) {
            MeasuredOperations measured = application.bean(MeasuredOperations.class);
            application.jdbc().execute("checkpoint");
            Map<String, Consumer<String>> all = measured.all();
            List<Variant> variants = MeasuredOperations.names().stream()
                    .map(name -> new Variant(name, () -> rate(calls, all.get(name))))
                    .toList();
            ComparedRates compared =
                    RoundRobin.run(variants, setting.sizes(), () -> measured.check(calls * variants.size()));
            return new ResultTable(
                    "Claims from code",
                    setting.describeRounds(calls),
                    COLUMNS,
                    compared.rowsComparedWith(MeasuredOperations.PLAIN),
                    compared.rates());
        }
    }

    private static double rate(int calls, Consumer<String> operation) {
        List<String> keys =
                Stream.generate(() -> UUID.randomUUID().toString()).limit(calls).toList();
        long start = System.nanoTime();
        keys.forEach(operation);
        return calls * 1e9 / (System.nanoTime() - start);
    }
}
