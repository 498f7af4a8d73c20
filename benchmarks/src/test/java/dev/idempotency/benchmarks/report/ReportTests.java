package dev.idempotency.benchmarks.report;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ReportTests {

    @TempDir
    private Path directory;

    @Test
    void absoluteRatesComeFirstSideBySideAndPicturesWhereTheirTablesAre() throws IOException {
        Report report = new Report(this.directory, "quick");
        report.add(table("Records").withHeadlines(List.of(headline("one", "`fsync` on", 900, 0.9))));
        report.add(table("Records")
                .withHeadlines(List.of(headline("one", "`fsync` off", 1800, 0.8), headline("two", "`fsync` off", 7, 2)))
                .withChart(new LineChart(
                        "growth",
                        "Growth",
                        "rows",
                        "ratio",
                        List.of(new LineChart.Line("one", List.of(new LineChart.Point(0, new Spread(0.9, 0.8, 1))))))));
        String markdown = Files.readString(report.markdownFile());
        assertThat(markdown)
                .containsSubsequence(
                        "### Messages per second",
                        """
                |  | messages/s, `fsync` on | ratio to raw | messages/s, `fsync` off | ratio to raw |
                | --- | ---: | ---: | ---: | ---: |
                | one | 900 | 0.90 | 1 800 | 0.80 |
                | two | – | – | 7 | 2.00 |
                """,
                        "### Records",
                        "### Records",
                        "![ratio by rows. one: 0.9 at 0.](");
        assertThat(this.directory).isDirectoryContaining(file -> file.toString().endsWith("-growth.svg"));
    }

    private static Headline headline(String listener, String circumstances, double rate, double ratio) {
        return new Headline(listener, circumstances, Cell.of(rate, 0), Cell.of(ratio, 2));
    }

    private static ResultTable table(String title) {
        return new ResultTable(title, "", List.of(""), List.of(List.of(Cell.of("row"))), Map.of());
    }
}
