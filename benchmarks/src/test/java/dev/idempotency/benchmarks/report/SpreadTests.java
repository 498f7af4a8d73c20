package dev.idempotency.benchmarks.report;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.util.List;
import java.util.stream.DoubleStream;
import org.junit.jupiter.api.Test;

class SpreadTests {

    private static final List<Double> HUNDRED =
            DoubleStream.iterate(100, value -> value - 1).limit(100).boxed().toList();

    @Test
    void theMedianIsInTheMiddleWhateverTheOrder() {
        assertThat(Spread.of(HUNDRED)).isEqualTo(new Spread(50.5, 1, 100));
        assertThat(Spread.of(List.of(3.0, 1.0, 2.0))).isEqualTo(new Spread(2, 1, 3));
    }

    @Test
    void theMedianOfManyIsKnownBetterThanTheirRange() {
        assertThat(Spread.ofMedian(HUNDRED)).isEqualTo(new Spread(50.5, 41, 60));
    }

    @Test
    void theMedianOfFewIsKnownNoBetterThanTheirRange() {
        assertThat(Spread.ofMedian(List.of(3.0, 1.0, 2.0))).isEqualTo(new Spread(2, 1, 3));
    }

    @Test
    void nothingHasNoMedian() {
        assertThatIllegalArgumentException().isThrownBy(() -> Spread.of(List.of()));
    }
}
