package dev.idempotency.benchmarks.harness;

import java.util.List;
import java.util.stream.LongStream;

/**
 * A measured duration.
 *
 * @param start the time of the first delivery
 * @param end the time of the first delivery after the turn
 * @param latencies the times from delivery to return, for each record
 */
public record Measurement(long start, long end, long[] latencies) {

    /** Combines concurrent measurements of several consumers, from the first start to the last end. */
    static Measurement together(List<Measurement> parts) {
        long start = parts.stream().mapToLong(Measurement::start).min().orElseThrow();
        long end = parts.stream().mapToLong(Measurement::end).max().orElseThrow();
        return new Measurement(
                start,
                end,
                parts.stream()
                        .flatMapToLong(part -> LongStream.of(part.latencies))
                        .toArray());
    }

    public double recordsPerSecond() {
        return this.latencies.length * 1e9 / (this.end - this.start);
    }
}
