package dev.idempotency.benchmarks.startup;

import dev.idempotency.benchmarks.report.Cell;
import dev.idempotency.benchmarks.report.ResultTable;
import dev.idempotency.benchmarks.report.Spread;
import dev.idempotency.benchmarks.scenario.Scenario;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * The time from the start of a JVM to a started application with fifty listeners, with the library and with the library
 * switched off, in turns. The tables are there already, as they are whenever an application is started again.
 */
public final class StartUp implements Scenario {

    private static final List<String> COLUMNS = List.of("", "ms (median)", "ms (range)");

    @Override
    public ResultTable measure(Setting setting) {
        String url = setting.database().jdbcUrl();
        start(url, true);
        List<Double> without = new ArrayList<>();
        List<Double> with = new ArrayList<>();
        List<Double> added = new ArrayList<>();
        for (int i = 0; i < setting.sizes().startUps(); i++) {
            without.add(start(url, false));
            with.add(start(url, true));
            added.add(with.get(i) - without.get(i));
        }
        return new ResultTable(
                "Start-up of an application with 50 listeners",
                "A JVM of its own for each start, %d in turns."
                        .formatted(setting.sizes().startUps()),
                COLUMNS,
                List.of(row("switched off", without), row("with the library", with), row("added", added)),
                Map.of("switched off", without, "with the library", with));
    }

    private static List<Cell> row(String name, List<Double> millis) {
        Spread spread = Spread.of(millis);
        return List.of(Cell.of(name), Cell.median(spread, 0), Cell.range(spread, 0));
    }

    private static double start(String url, boolean enabled) {
        ProcessBuilder builder = new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-cp",
                System.getProperty("java.class.path"),
                FleetApplication.class.getName(),
                "--spring.datasource.url=" + url,
                "--idempotency.enabled=" + enabled);
        try {
            Process process = builder.redirectErrorStream(true).start();
            String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            return output.lines()
                    .filter(line -> line.startsWith(FleetApplication.MILLIS))
                    .mapToDouble(line -> Double.parseDouble(line.substring(FleetApplication.MILLIS.length())))
                    .findFirst()
                    .orElseThrow(() -> new IllegalStateException("The application did not start:\n" + output));
        } catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }
}
