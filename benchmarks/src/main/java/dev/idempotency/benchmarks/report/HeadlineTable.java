package dev.idempotency.benchmarks.report;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** A table of a run's absolute rates for all circumstances, for use in the documentation. */
final class HeadlineTable {

    private static final String TITLE = "Messages per second, applied exactly once to PostgreSQL";

    private HeadlineTable() {}

    static ResultTable of(List<Headline> headlines) {
        List<String> circumstances =
                headlines.stream().map(Headline::circumstances).distinct().toList();
        List<String> columns = new ArrayList<>();
        columns.add("");
        circumstances.forEach(each -> {
            columns.add("messages/s, " + each);
            columns.add("ratio to raw");
        });
        List<List<Cell>> rows = headlines.stream()
                .map(Headline::listener)
                .distinct()
                .map(listener -> row(listener, circumstances, headlines))
                .toList();
        return new ResultTable(
                TITLE,
                "Medians of all rounds; record listeners and polls are compared with the raw record listener, batches with"
                        + " the raw batch listener of the same size and work.",
                columns,
                rows,
                Map.of());
    }

    private static List<Cell> row(String listener, List<String> circumstances, List<Headline> headlines) {
        List<Cell> row = new ArrayList<>();
        row.add(Cell.of(listener));
        for (String each : circumstances) {
            Headline headline = headlines.stream()
                    .filter(candidate -> candidate.listener().equals(listener)
                            && candidate.circumstances().equals(each))
                    .findFirst()
                    .orElse(new Headline(listener, each, Cell.none(), Cell.none()));
            row.add(headline.rate());
            row.add(headline.ratio());
        }
        return row;
    }
}
