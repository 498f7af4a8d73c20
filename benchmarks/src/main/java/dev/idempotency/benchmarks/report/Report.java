package dev.idempotency.benchmarks.report;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalDateTime;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import tools.jackson.databind.SerializationFeature;
import tools.jackson.databind.json.JsonMapper;

/** All tables and charts of a run, written after each scenario, so that an interrupted run keeps its results. */
public final class Report {

    private static final DateTimeFormatter FILE_NAME = DateTimeFormatter.ofPattern("yyyyMMdd-HHmmss");
    private static final JsonMapper JSON =
            JsonMapper.builder().enable(SerializationFeature.INDENT_OUTPUT).build();

    private final LocalDateTime start = LocalDateTime.now();
    private final Path directory;
    private final String options;
    private final List<ResultTable> tables = new ArrayList<>();

    public Report(Path directory, String options) {
        this.directory = directory;
        this.options = options;
    }

    public void add(ResultTable table) {
        this.tables.add(table);
        try {
            Files.createDirectories(this.directory);
            Files.writeString(markdownFile(), markdown());
            Files.writeString(file(".json"), JSON.writeValueAsString(json()));
            if (table.chart() != null) {
                Files.writeString(file(table.chart()), SvgChart.draw(table.chart()));
            }
        } catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }

    public Path markdownFile() {
        return file(".md");
    }

    private Path file(LineChart chart) {
        return file("-" + chart.name() + ".svg");
    }

    private Path file(String ending) {
        return this.directory.resolve(FILE_NAME.format(this.start) + ending);
    }

    private String markdown() {
        List<String> parts = new ArrayList<>();
        parts.add("## Benchmarks of %s\n\nOptions: %s. Machine: %s.\n"
                .formatted(this.start.toLocalDate(), this.options, Machine.describe()));
        List<Headline> headlines = this.tables.stream()
                .flatMap(table -> table.headlines().stream())
                .toList();
        if (!headlines.isEmpty()) {
            parts.add(HeadlineTable.of(headlines).markdown());
        }
        for (ResultTable table : this.tables) {
            parts.add(table.markdown());
            if (table.chart() != null) {
                parts.add("![%s](%s)\n"
                        .formatted(
                                table.chart().description(), file(table.chart()).getFileName()));
            }
        }
        return String.join("\n", parts);
    }

    private Map<String, Object> json() {
        Map<String, Object> json = new LinkedHashMap<>();
        json.put("start", this.start.toString());
        json.put("options", this.options);
        json.put("machine", Machine.describe());
        json.put("tables", this.tables.stream().map(Report::json).toList());
        return json;
    }

    private static Map<String, Object> json(ResultTable table) {
        Map<String, Object> json = new LinkedHashMap<>();
        json.put("title", table.title());
        json.put("setting", table.setting());
        json.put(
                "rows",
                table.rows().stream().map(row -> json(table.columns(), row)).toList());
        json.put("samples", table.samples());
        return json;
    }

    private static Map<String, Object> json(List<String> columns, List<Cell> row) {
        Map<String, Object> json = new LinkedHashMap<>();
        for (int i = 0; i < columns.size(); i++) {
            json.put(columns.get(i), row.get(i).value());
        }
        return json;
    }
}
