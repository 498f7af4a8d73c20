package dev.idempotency.benchmarks.scenario;

import dev.idempotency.benchmarks.stage.ListenerFailedException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Measurements that take turns, round after round, so that what disturbs the machine for a while disturbs all of them.
 * The one who begins changes from round to round. Who fails is out.
 */
final class Race {

    private final List<Lane> lanes;
    private final Map<String, List<Double>> rates = new LinkedHashMap<>();
    private final Map<String, String> failures = new LinkedHashMap<>();

    private Race(List<Lane> lanes) {
        this.lanes = lanes;
        lanes.forEach(lane -> this.rates.put(lane.name(), new ArrayList<>()));
    }

    /** Runs all rounds; {@code afterRound} checks what the lanes have done in each. */
    static Standings run(List<Lane> lanes, Sizes sizes, Runnable afterRound) {
        Race race = new Race(lanes);
        for (int round = 0; round < sizes.warmUps() + sizes.rounds(); round++) {
            race.round(round, round >= sizes.warmUps());
            afterRound.run();
        }
        return new Standings(race.rates, race.failures);
    }

    private void round(int round, boolean counts) {
        for (int i = 0; i < this.lanes.size(); i++) {
            Lane lane = this.lanes.get((i + round) % this.lanes.size());
            if (this.failures.containsKey(lane.name())) {
                continue;
            }
            try {
                double rate = lane.heat().run();
                if (counts) {
                    this.rates.get(lane.name()).add(rate);
                }
            } catch (ListenerFailedException ex) {
                this.failures.put(lane.name(), ex.getMessage());
                this.rates.get(lane.name()).clear();
            }
        }
    }
}
