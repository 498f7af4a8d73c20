package dev.idempotency.benchmarks;

import dev.idempotency.benchmarks.harness.BenchmarkDatabase;
import dev.idempotency.benchmarks.harness.Durability;
import dev.idempotency.benchmarks.interceptor.InterceptorAlone;
import dev.idempotency.benchmarks.report.Report;
import dev.idempotency.benchmarks.report.ResultTable;
import dev.idempotency.benchmarks.scenario.Autovacuum;
import dev.idempotency.benchmarks.scenario.BatchListeners;
import dev.idempotency.benchmarks.scenario.CleanupWhileConsuming;
import dev.idempotency.benchmarks.scenario.DuplicatesOnly;
import dev.idempotency.benchmarks.scenario.Growth;
import dev.idempotency.benchmarks.scenario.IdOrder;
import dev.idempotency.benchmarks.scenario.Latency;
import dev.idempotency.benchmarks.scenario.Operations;
import dev.idempotency.benchmarks.scenario.PayloadDigests;
import dev.idempotency.benchmarks.scenario.Reconciling;
import dev.idempotency.benchmarks.scenario.RecordListeners;
import dev.idempotency.benchmarks.scenario.RingOfTables;
import dev.idempotency.benchmarks.scenario.ScaleOut;
import dev.idempotency.benchmarks.scenario.Scenario;
import dev.idempotency.benchmarks.scenario.UniqueRows;
import dev.idempotency.benchmarks.startup.StartUp;
import dev.idempotency.benchmarks.startup.WarmStartUp;
import java.nio.file.Path;
import java.util.Collections;
import java.util.Set;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import org.springframework.boot.logging.LogLevel;
import org.springframework.boot.logging.LoggingSystem;

/** The command that runs every scenario with a durable database, and some of them also with a relaxed one. */
public final class Benchmarks {

    static final SortedMap<Integer, Scenario> SCENARIOS = scenarios();

    /** Scenarios without a disk, or whose result does not depend on it. */
    private static final Set<Integer> DURABLE_ONLY = Set.of(4, 5, 6, 7, 8, 10, 11, 13, 14, 15, 16, 17);

    /** The scenarios of a short run, unless others are given. */
    static final Set<Integer> QUICK = Set.of(1, 2, 3, 6, 7);

    private Benchmarks() {}

    public static void main(String[] arguments) {
        Options options = Options.parse(arguments);
        Report report = new Report(Path.of("results"), options.toString());
        int status = 1;
        try {
            for (Durability durability : Durability.values()) {
                run(options, durability, report);
            }
            System.out.println("Written to " + report.markdownFile().toAbsolutePath()
                    + ", and as JSON beside it, with the pictures.");
            status = 0;
        } catch (RuntimeException ex) {
            ex.printStackTrace();
        }
        end(status);
    }

    /** Exits, as the embedded broker would keep the JVM alive, and silences errors that it logs at shutdown. */
    private static void end(int status) {
        LoggingSystem logging = LoggingSystem.get(Benchmarks.class.getClassLoader());
        logging.setLogLevel("kafka", LogLevel.OFF);
        logging.setLogLevel("org.apache.kafka", LogLevel.OFF);
        System.exit(status);
    }

    private static void run(Options options, Durability durability, Report report) {
        if (durability == Durability.RELAXED && (options.quick() || options.isSlowedDown())) {
            return;
        }
        SortedSet<Integer> numbers = new TreeSet<>(options.scenarios());
        if (durability == Durability.RELAXED) {
            numbers.removeAll(DURABLE_ONLY);
        }
        if (numbers.isEmpty()) {
            return;
        }
        try (BenchmarkDatabase database =
                BenchmarkDatabase.start(durability, options.ring(), options.flushMicros(), options.distanceMicros())) {
            Scenario.Setting setting = new Scenario.Setting(durability, database, options.sizes(), options.selection());
            for (int number : numbers) {
                ResultTable table = SCENARIOS.get(number).measure(setting);
                report.add(table);
                System.out.println(table.markdown());
            }
        }
    }

    private static SortedMap<Integer, Scenario> scenarios() {
        SortedMap<Integer, Scenario> scenarios = new TreeMap<>();
        scenarios.put(1, new RecordListeners());
        scenarios.put(2, new BatchListeners());
        scenarios.put(3, new DuplicatesOnly());
        scenarios.put(4, new Growth());
        scenarios.put(5, new CleanupWhileConsuming());
        scenarios.put(6, new Latency());
        scenarios.put(7, new InterceptorAlone());
        scenarios.put(8, new StartUp());
        scenarios.put(9, new Operations());
        scenarios.put(10, new WarmStartUp());
        scenarios.put(11, new UniqueRows());
        scenarios.put(12, new PayloadDigests());
        scenarios.put(13, new ScaleOut());
        scenarios.put(14, new IdOrder());
        scenarios.put(15, new Autovacuum());
        scenarios.put(16, new Reconciling());
        scenarios.put(17, new RingOfTables());
        return Collections.unmodifiableSortedMap(scenarios);
    }
}
