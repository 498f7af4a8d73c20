package dev.idempotency.benchmarks.scenario;

/**
 * One of several measurements that take turns.
 *
 * @param name what it is called in the table
 * @param sample measures once
 */
record Variant(String name, Sample sample) {

    /** Measures once, in records per second. */
    @FunctionalInterface
    interface Sample {

        double take();
    }
}
