package dev.idempotency.benchmarks.interceptor;

import dev.idempotency.benchmarks.report.Cell;
import dev.idempotency.benchmarks.report.ResultTable;
import dev.idempotency.benchmarks.scenario.Scenario;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import org.openjdk.jmh.profile.GCProfiler;
import org.openjdk.jmh.results.RunResult;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.RunnerException;
import org.openjdk.jmh.runner.options.OptionsBuilder;
import org.openjdk.jmh.runner.options.TimeValue;
import org.openjdk.jmh.runner.options.VerboseMode;

/** Time and memory per message with a stub of the store, measured by JMH in a separate JVM. */
public final class InterceptorAlone implements Scenario {

    private static final List<String> COLUMNS = List.of("", "ns a message", "± (99.9 %)", "bytes a message");
    private static final int ITERATIONS = 5;
    private static final String ALLOCATED = "gc.alloc.rate.norm";

    @Override
    public ResultTable measure(Setting setting) {
        List<List<Cell>> rows = run(setting.sizes().probeMillis()).stream()
                .map(InterceptorAlone::row)
                .toList();
        return new ResultTable(
                "The interceptor alone",
                "No broker, no database: a listener as its container calls it, with a stubbed store and transaction"
                        + " manager. What is added is the difference to the raw listener. A batch has %d messages."
                                .formatted(InterceptorBenchmark.BATCH),
                COLUMNS,
                rows,
                Map.of());
    }

    private static Collection<RunResult> run(int millis) {
        OptionsBuilder options = new OptionsBuilder();
        options.include(InterceptorBenchmark.class.getName())
                .forks(1)
                .warmupIterations(ITERATIONS)
                .warmupTime(TimeValue.milliseconds(millis))
                .measurementIterations(ITERATIONS)
                .measurementTime(TimeValue.milliseconds(millis))
                .verbosity(VerboseMode.SILENT)
                .addProfiler(GCProfiler.class);
        try {
            return new Runner(options.build()).run();
        } catch (RunnerException ex) {
            throw new IllegalStateException(ex);
        }
    }

    private static List<Cell> row(RunResult result) {
        String name = result.getParams().getBenchmark();
        return List.of(
                Cell.of("`" + name.substring(name.lastIndexOf('.') + 1) + "`"),
                Cell.of(result.getPrimaryResult().getScore(), 0),
                Cell.of(result.getPrimaryResult().getScoreError(), 0),
                Cell.of(result.getSecondaryResults().get(ALLOCATED).getScore(), 0));
    }
}
