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
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;

/**
 * The time from the start of a JVM to a started application with fifty listeners, alternately with the library switched on
 * and off. The tables exist already, as at every restart of an application.
 */
public final class StartUp implements Scenario {

    private static final List<String> COLUMNS = List.of("", "ms (median)", "ms (95 % confidence)");

    private static final String OFF = "switched off";
    private static final String ON = "with the library";
    private static final String CHECKS = "of which the start-up checks";

    private static final Pattern MILLIS = Pattern.compile(FleetApplication.MILLIS + "(\\d+)");
    private static final Pattern CHECK_MILLIS = Pattern.compile("Checked \\d+ listeners in (\\d+) ms");

    @Override
    public ResultTable measure(Setting setting) {
        String url = setting.database().jdbcUrl();
        start(url, true);
        List<Double> off = new ArrayList<>();
        List<Double> on = new ArrayList<>();
        List<Double> checks = new ArrayList<>();
        for (int i = 0; i < setting.sizes().startUps(); i++) {
            off.add(number(MILLIS, start(url, false)));
            String output = start(url, true);
            on.add(number(MILLIS, output));
            checks.add(number(CHECK_MILLIS, output));
        }
        return new ResultTable(
                "Start-up of an application with 50 listeners",
                ("Each start has a separate JVM, %d in turns. All connect to the database and migrate a table of the"
                                + " application's own with Flyway; the library's tables are there already.")
                        .formatted(setting.sizes().startUps()),
                COLUMNS,
                List.of(row(OFF, off), row(ON, on), row("added", differences(on, off)), row(CHECKS, checks)),
                Map.of(OFF, off, ON, on, CHECKS, checks));
    }

    /** Returns the differences within each turn. */
    private static List<Double> differences(List<Double> millis, List<Double> others) {
        return IntStream.range(0, millis.size())
                .mapToObj(i -> millis.get(i) - others.get(i))
                .toList();
    }

    private static List<Cell> row(String name, List<Double> millis) {
        Spread spread = Spread.ofMedian(millis);
        return List.of(Cell.of(name), Cell.median(spread, 0), Cell.range(spread, 0));
    }

    /** Starts the application, and returns its output. */
    private static String start(String url, boolean enabled) {
        ProcessBuilder builder = new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-cp",
                System.getProperty("java.class.path"),
                FleetApplication.class.getName(),
                "--spring.datasource.url=" + url,
                "--idempotency.enabled=" + enabled,
                "--logging.level.dev.idempotency.internal.check.ListenerChecks=debug");
        try {
            Process process = builder.redirectErrorStream(true).start();
            return new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }

    private static double number(Pattern pattern, String output) {
        Matcher matcher = pattern.matcher(output);
        if (!matcher.find()) {
            throw new IllegalStateException("The application did not start, or did not say so:\n" + output);
        }
        return Double.parseDouble(matcher.group(1));
    }
}
