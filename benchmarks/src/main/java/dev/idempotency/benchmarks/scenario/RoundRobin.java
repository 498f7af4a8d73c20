package dev.idempotency.benchmarks.scenario;

import dev.idempotency.benchmarks.harness.ListenerFailedException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Measurements that take turns in each round, so that a temporary disturbance of the machine affects all of them. The first
 * one changes from round to round. A variant that fails is excluded.
 */
final class RoundRobin {

    private final List<Variant> variants;
    private final Map<String, List<Double>> rates = new LinkedHashMap<>();
    private final Map<String, String> failures = new LinkedHashMap<>();

    private RoundRobin(List<Variant> variants) {
        this.variants = variants;
        variants.forEach(variant -> this.rates.put(variant.name(), new ArrayList<>()));
    }

    /** Runs all rounds; {@code afterRound} checks the work of the variants after each. */
    static ComparedRates run(List<Variant> variants, Sizes sizes, Runnable afterRound) {
        RoundRobin roundRobin = new RoundRobin(variants);
        for (int round = 0; round < sizes.warmUps() + sizes.rounds(); round++) {
            roundRobin.round(round, round >= sizes.warmUps());
            afterRound.run();
        }
        return new ComparedRates(roundRobin.rates, roundRobin.failures);
    }

    private void round(int round, boolean counts) {
        for (int i = 0; i < this.variants.size(); i++) {
            Variant variant = this.variants.get((i + round) % this.variants.size());
            if (this.failures.containsKey(variant.name())) {
                continue;
            }
            try {
                double rate = variant.sample().take();
                if (counts) {
                    this.rates.get(variant.name()).add(rate);
                }
            } catch (ListenerFailedException ex) {
                this.failures.put(variant.name(), ex.getMessage());
                this.rates.get(variant.name()).clear();
            }
        }
    }
}
