package dev.idempotency.benchmarks.scenario;

/**
 * A measurement that takes turns with others.
 *
 * @param name its name in the table
 * @param sample takes one measurement
 */
record Variant(String name, Sample sample) {

    /** Takes one measurement, in records per second. */
    @FunctionalInterface
    interface Sample {

        double take();
    }
}
