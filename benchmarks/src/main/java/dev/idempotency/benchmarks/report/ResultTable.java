package dev.idempotency.benchmarks.report;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The figures of one scenario.
 *
 * @param title the title
 * @param setting the circumstances of the measurement
 * @param columns the column headers
 * @param rows the cells, as many per row as there are columns
 * @param samples the measurements of each round by row, which only the JSON file contains
 * @param headlines the figures for the beginning of the report
 * @param chart a chart of the figures
 */
public record ResultTable(
        String title,
        String setting,
        List<String> columns,
        List<List<Cell>> rows,
        Map<String, List<Double>> samples,
        List<Headline> headlines,
        @Nullable LineChart chart) {

    public ResultTable(
            String title,
            String setting,
            List<String> columns,
            List<List<Cell>> rows,
            Map<String, List<Double>> samples) {
        this(title, setting, columns, rows, samples, List.of(), null);
    }

    public ResultTable {
        for (List<Cell> row : rows) {
            if (row.size() != columns.size()) {
                throw new IllegalArgumentException(
                        "A row of %d fields under %d columns: %s".formatted(row.size(), columns.size(), row));
            }
        }
    }

    public ResultTable withHeadlines(List<Headline> headlines) {
        return new ResultTable(this.title, this.setting, this.columns, this.rows, this.samples, headlines, this.chart);
    }

    public ResultTable withChart(LineChart chart) {
        return new ResultTable(this.title, this.setting, this.columns, this.rows, this.samples, this.headlines, chart);
    }

    public String markdown() {
        List<String> lines = new ArrayList<>();
        lines.add("### " + this.title);
        lines.add("");
        lines.add(this.setting);
        lines.add("");
        lines.add(line(this.columns));
        lines.add(line(this.columns.stream()
                .map(column -> (column.equals(this.columns.get(0))) ? "---" : "---:")
                .toList()));
        this.rows.forEach(row -> lines.add(line(row.stream().map(Cell::text).toList())));
        return String.join("\n", lines) + "\n";
    }

    private static String line(List<String> fields) {
        return fields.stream().collect(Collectors.joining(" | ", "| ", " |"));
    }
}
