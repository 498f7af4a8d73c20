package dev.idempotency.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import dev.idempotency.benchmarks.scenario.Selection;
import dev.idempotency.benchmarks.scenario.Sizes;
import java.util.List;
import org.junit.jupiter.api.Test;

class OptionsTests {

    @Test
    void withoutOptionsEverythingIsMeasuredAtFullSize() {
        Options options = Options.parse();
        assertThat(options.scenarios()).containsExactlyElementsOf(Benchmarks.SCENARIOS.keySet());
        assertThat(options.selection()).isEqualTo(Selection.ALL);
        assertThat(options.sizes()).isEqualTo(Sizes.FULL);
    }

    @Test
    void aShortRunOfSomeScenariosCanBeAskedFor() {
        Options options = Options.parse("--quick", "--scenarios=3,1", "--rounds=2", "--messages=10", "--rows=7");
        assertThat(options.quick()).isTrue();
        assertThat(options.scenarios()).containsExactly(1, 3);
        assertThat(options.sizes())
                .isEqualTo(Sizes.QUICK.withRounds(2).withMessages(10).withRows(7));
    }

    @Test
    void aSlowerDiskAndADistantServerCanBeAskedFor() {
        assertThat(Options.parse().isSlowedDown()).isFalse();
        assertThat(Options.parse("--flush=500").flushMicros()).isEqualTo(500);
        assertThat(Options.parse("--distance=400").distanceMicros()).isEqualTo(400);
    }

    @Test
    void aShortRunLeavesOutWhatTakesLongUnlessItIsNamed() {
        assertThat(Options.parse("--quick").scenarios()).containsExactly(1, 2, 3, 6, 7);
        assertThat(Options.parse("--quick", "--scenarios=8").scenarios()).containsExactly(8);
    }

    @Test
    void onlySomeListenersCanBeAskedFor() {
        assertThat(Options.parse("--only=Offset, raw").selection()).isEqualTo(new Selection(List.of("offset", "raw")));
    }

    @Test
    void whatIsNotUnderstoodIsRefused() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> Options.parse("--fast"))
                .withMessageContaining("--fast")
                .withMessageContaining("--quick");
        assertThatIllegalArgumentException().isThrownBy(() -> Options.parse("--scenarios=99"));
        assertThatIllegalArgumentException().isThrownBy(() -> Options.parse("--rounds=0"));
        assertThatIllegalArgumentException().isThrownBy(() -> Options.parse("--rounds=some"));
        assertThatIllegalArgumentException()
                .isThrownBy(() -> Options.parse("--only=ofset"))
                .withMessageContaining("'ofset'")
                .withMessageContaining("offset-poll");
        assertThatIllegalArgumentException().isThrownBy(() -> Options.parse("--only="));
    }
}
