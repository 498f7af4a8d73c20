package dev.idempotency.benchmarks.harness;

import java.util.List;
import java.util.stream.LongStream;

/**
 * A measured duration.
 *
 * @param start the first delivery
 * @param end the delivery that came after the last
 * @param latencies from delivery to return, for each record
 */
public record Measurement(long start, long end, long[] latencies) {

    /** What several consumers did at the same time: it is over when the last of them is. */
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
