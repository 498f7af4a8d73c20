package dev.idempotency.benchmarks.scenario;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.benchmarks.report.Cell;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class ComparedRatesTests {

    @Test
    void ratiosAreTakenWithinARoundSoThatASlowRoundCountsForNobody() {
        ComparedRates compared = new ComparedRates(
                Map.of("raw", List.of(100.0, 10.0, 1000.0), "other", List.of(50.0, 8.0, 900.0)), Map.of());
        assertThat(compared.row("other", "raw"))
                .extracting(Cell::text)
                .containsExactly("other", "0.80", "0.50 – 0.90", "50");
    }

    @Test
    void whoFailedSaysWhyAndHasNoRatio() {
        ComparedRates compared =
                new ComparedRates(Map.of("raw", List.of(1.0), "other", List.of()), Map.of("other", "no such table"));
        assertThat(compared.row("other", "raw"))
                .extracting(Cell::text)
                .containsExactly("other", "fails", "no such table", "–");
    }
}
