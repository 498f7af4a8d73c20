package dev.idempotency.benchmarks.scenario;

/**
 * One of several measurements that take turns.
 *
 * @param name what it is called in the table
 * @param heat measures once
 */
record Lane(String name, Heat heat) {

    /** Measures once, in records a second. */
    @FunctionalInterface
    interface Heat {

        double run();
    }
}
