package dev.idempotency.benchmarks.harness;

/**
 * What the clock showed.
 *
 * @param nanos from the first delivery to the one that came after the last
 * @param latencies from delivery to return, for each record
 */
public record Measurement(long nanos, long[] latencies) {

    public double recordsPerSecond() {
        return this.latencies.length * 1e9 / this.nanos;
    }
}
