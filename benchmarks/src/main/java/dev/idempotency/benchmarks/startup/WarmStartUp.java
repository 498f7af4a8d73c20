package dev.idempotency.benchmarks.startup;

import dev.idempotency.benchmarks.report.Cell;
import dev.idempotency.benchmarks.report.ResultTable;
import dev.idempotency.benchmarks.report.Spread;
import dev.idempotency.benchmarks.scenario.Scenario;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.springframework.boot.context.metrics.buffering.BufferingApplicationStartup;
import org.springframework.boot.context.metrics.buffering.StartupTimeline;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.core.metrics.StartupStep;

/**
 * The start-up time of the application with fifty listeners in a JVM in which it was started before, as in tests and tools:
 * no classes are loaded, so the difference is the library's work. The processor time of the starting thread is less affected
 * by other load.
 */
public final class WarmStartUp implements Scenario {

    private static final List<String> COLUMNS =
            List.of("", "ms (median)", "ms (95 % confidence)", "ms of the processor (median)");

    private static final int WARM_UPS = 5;

    /** The minimum time of a bean of the library that is reported in a separate row. */
    private static final double WORTH_MILLIS = 1;

    private final Map<String, List<Double>> elapsed = new LinkedHashMap<>();
    private final Map<String, List<Double>> processor = new LinkedHashMap<>();

    @Override
    public ResultTable measure(Setting setting) {
        String url = setting.database().jdbcUrl();
        int starts = setting.sizes().startUps() * 2;
        for (int i = 0; i < WARM_UPS + starts; i++) {
            if (i == WARM_UPS) {
                this.elapsed.clear();
                this.processor.clear();
            }
            start(url, false);
            start(url, true);
        }
        List<List<Cell>> rows = new ArrayList<>();
        this.elapsed.forEach((name, millis) -> {
            Spread spread = Spread.ofMedian(millis);
            List<Double> own = this.processor.get(name);
            Cell ofProcessor = (own != null) ? Cell.median(Spread.ofMedian(own), 0) : Cell.none();
            if (own != null || median(millis) >= WORTH_MILLIS) {
                rows.add(List.of(Cell.of(name), Cell.median(spread, 0), Cell.range(spread, 0), ofProcessor));
            }
        });
        return new ResultTable(
                "Start-up of an application with 50 listeners in a warm JVM",
                "%d starts each, in turns, after %d to warm up; then the library's own beans, as Spring times them."
                        .formatted(starts, WARM_UPS),
                COLUMNS,
                rows,
                Map.copyOf(this.elapsed));
    }

    private static double median(List<Double> values) {
        return values.stream().sorted().toList().get(values.size() / 2);
    }

    private void start(String url, boolean enabled) {
        BufferingApplicationStartup steps = new BufferingApplicationStartup(100_000);
        long processorBefore = processorNanos();
        long before = System.nanoTime();
        ConfigurableApplicationContext context = FleetApplication.application()
                .applicationStartup(steps)
                .run("--spring.datasource.url=" + url, "--idempotency.enabled=" + enabled);
        double millis = (System.nanoTime() - before) / 1e6;
        double processorMillis = (processorNanos() - processorBefore) / 1e6;
        context.close();
        String name = enabled ? "with the library" : "switched off";
        add(this.elapsed, name, millis);
        add(this.processor, name, processorMillis);
        if (enabled) {
            spans(steps.getBufferedTimeline()).forEach((bean, span) -> add(this.elapsed, "of which " + bean, span));
            List<Double> off = this.elapsed.get("switched off");
            List<Double> offProcessor = this.processor.get("switched off");
            add(this.elapsed, "added", millis - off.get(off.size() - 1));
            add(this.processor, "added", processorMillis - offProcessor.get(offProcessor.size() - 1));
        }
    }

    private static void add(Map<String, List<Double>> values, String name, double value) {
        values.computeIfAbsent(name, added -> new ArrayList<>()).add(value);
    }

    private static long processorNanos() {
        return ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
    }

    /** Returns how long the creation of the library's beans took, without their dependencies. */
    private static Map<String, Double> spans(StartupTimeline timeline) {
        Map<Long, Double> own = new TreeMap<>();
        Map<Long, StartupStep> steps = new TreeMap<>();
        for (StartupTimeline.TimelineEvent event : timeline.getEvents()) {
            StartupStep step = event.getStartupStep();
            double millis = event.getDuration().toNanos() / 1e6;
            steps.put(step.getId(), step);
            own.merge(step.getId(), millis, Double::sum);
            if (step.getParentId() != null) {
                own.merge(step.getParentId(), -millis, Double::sum);
            }
        }
        Map<String, Double> spans = new TreeMap<>();
        steps.forEach((id, step) -> {
            for (StartupStep.Tag tag : step.getTags()) {
                if (tag.getKey().equals("beanName") && tag.getValue().startsWith("idempoten")) {
                    spans.merge(tag.getValue(), own.get(id), Double::sum);
                }
            }
        });
        return spans;
    }
}
