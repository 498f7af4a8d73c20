package dev.idempotency.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.app.PrometheusScrape;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** The check of dashboard and alerts can fail: each mistake that it is there for is seen. */
class PromQueryTests {

    private static final PrometheusScrape SCRAPE = PrometheusScrape.parse("""
            # HELP messages_total Messages
            messages_total{consumer="billing",outcome="processed"} 3.0
            messages_total{consumer="billing",outcome="duplicate"} 0.0
            claim_seconds_bucket{consumer="billing",le="0.1"} 1
            claim_seconds_bucket{consumer="billing",le="+Inf"} 1
            rows NaN
            """);

    private static List<String> problems(String query, String... legend) {
        return PromQuery.parse(query).problems(SCRAPE, Set.of(legend));
    }

    @Test
    void queriesOfWhatIsExportedAreFine() {
        assertThat(
                        problems(
                                "sum by (job, consumer) (rate(messages_total{outcome=\"processed\", job=~\"$job\"}[5m]))"
                                        + " / ignoring (outcome) sum(rate(messages_total{outcome=~\"processed|duplicate\"}[$__range])) > 0.05"))
                .containsExactly();
        assertThat(problems("histogram_quantile(0.99, sum by (consumer, le) (rate(claim_seconds_bucket[5m]))) > 1e3"))
                .isEmpty();
        assertThat(problems("max(rows) and 0.5 * sum by (consumer) (messages_total) > 0 unless rows offset 5m"))
                .containsExactly("no label consumer on rows", "no label consumer on rows");
        assertThat(problems("sum by (job, consumer) (messages_total) unless on (job) sum by (job) (rows) > 0"))
                .isEmpty();
        assertThat(problems("sum by (job) (messages_total) unless on (job) sum by (job, consumer) (rows) > 0"))
                .containsExactly("no label consumer on rows");
    }

    @Test
    void aMetricThatIsNotExportedIsSeen() {
        assertThat(problems("sum(rate(message_total[5m]))")).containsExactly("no metric message_total");
        assertThat(problems("messages_total and message_total{outcome=\"processed\"}"))
                .containsExactly("no metric message_total");
    }

    @Test
    void aLabelThatIsNotExportedIsSeen() {
        assertThat(problems("sum by (consumr) (messages_total)")).containsExactly("no label consumr on messages_total");
        assertThat(problems("messages_total{result!=\"x\"}")).containsExactly("no label result on messages_total");
    }

    @Test
    void aValueThatIsNotExportedIsSeen() {
        assertThat(problems("messages_total{outcome=\"failed\"}")).hasSize(1);
        assertThat(problems("messages_total{outcome=~\"processed|dropped\"}"))
                .containsExactly("no series messages_total for the value dropped");
    }

    @Test
    void aLegendThatNamesALostLabelIsSeen() {
        assertThat(problems("sum by (consumer) (messages_total)", "consumer")).isEmpty();
        assertThat(problems("sum by (consumer) (messages_total)", "outcome")).hasSize(1);
    }

    @Test
    void aQueryWithoutAMetricIsSeen() {
        assertThat(problems("vector(1)")).hasSize(1);
    }
}
