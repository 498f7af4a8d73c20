package dev.idempotency.benchmarks.scenario;

import dev.idempotency.benchmarks.harness.Durability;
import dev.idempotency.benchmarks.measured.MeasuredListener;
import dev.idempotency.benchmarks.report.Cell;
import dev.idempotency.benchmarks.report.Headline;
import dev.idempotency.benchmarks.report.Spread;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Rates of variants that were measured in turns.
 *
 * @param rates records per second in each round, by variant
 * @param failures the failures of excluded variants
 */
record ComparedRates(Map<String, List<Double>> rates, Map<String, String> failures) {

    static final List<String> COLUMNS = List.of("", "ratio (median)", "95 % confidence", "records/s (median)");

    /** Returns the rows of all variants, compared with the same one. */
    List<List<Cell>> rowsComparedWith(String baseline) {
        return this.rates.keySet().stream()
                .map(variant -> row(variant, baseline))
                .toList();
    }

    /** Returns a row for {@link #COLUMNS}. */
    List<Cell> row(String variant, String baseline) {
        String failure = this.failures.get(variant);
        if (failure != null) {
            return List.of(Cell.of(variant), Cell.of("fails"), Cell.of(failure.replace('|', '/')), Cell.none());
        }
        Spread ratio = ratio(variant, baseline);
        Spread rate = Spread.of(rates(variant));
        return List.of(
                Cell.of(variant),
                (ratio != null) ? Cell.median(ratio, 2) : Cell.none(),
                (ratio != null) ? Cell.range(ratio, 2) : Cell.none(),
                Cell.median(rate, 0));
    }

    /** Returns the rates of the listeners that were measured, for the beginning of a report. */
    List<Headline> headlines(List<MeasuredListener> listeners, MeasuredListener baseline, Durability durability) {
        return listeners.stream()
                .map(MeasuredListener::name)
                .filter(this.rates::containsKey)
                .map(name -> {
                    List<Cell> row = row(name, baseline.name());
                    return new Headline(name, durability.brief(), row.get(3), row.get(1));
                })
                .toList();
    }

    /** Returns the ratios within each round; {@code null} if one of both is excluded. */
    @Nullable
    Spread ratio(String variant, String baseline) {
        List<Double> own = rates(variant);
        List<Double> others = rates(baseline);
        if (own.isEmpty() || others.isEmpty()) {
            return null;
        }
        List<Double> ratios = new ArrayList<>();
        for (int round = 0; round < own.size(); round++) {
            ratios.add(own.get(round) / others.get(round));
        }
        return Spread.ofMedian(ratios);
    }

    /** Returns the rates of a variant; empty if it is excluded. */
    List<Double> rates(String variant) {
        return this.rates.getOrDefault(variant, List.of());
    }
}
