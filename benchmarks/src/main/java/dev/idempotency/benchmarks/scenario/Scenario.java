package dev.idempotency.benchmarks.scenario;

import dev.idempotency.benchmarks.harness.BenchmarkDatabase;
import dev.idempotency.benchmarks.harness.Durability;
import dev.idempotency.benchmarks.report.ResultTable;

/** A scenario to measure. */
public interface Scenario {

    ResultTable measure(Setting setting);

    /**
     * The circumstances of a measurement.
     *
     * @param durability the durability of the database
     * @param database the database
     * @param sizes the sizes of scenarios
     * @param selection the listeners to measure
     */
    record Setting(Durability durability, BenchmarkDatabase database, Sizes sizes, Selection selection) {

        Setting with(Sizes other) {
            return new Setting(this.durability, this.database, other, this.selection);
        }

        String describe(String more) {
            return "PostgreSQL with %s, a round trip takes %d µs; %s."
                    .formatted(this.durability, this.database.roundTripMicros(), more);
        }

        String describeRounds(int messages) {
            return describe("%,d messages each in a round, %d rounds after %d to warm up"
                    .formatted(messages, this.sizes.rounds(), this.sizes.warmUps()));
        }
    }
}
