package dev.idempotency.chaos;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import dev.idempotency.chaos.consumer.Sabotage;
import dev.idempotency.chaos.fault.Fault;
import org.junit.jupiter.api.Test;

class OptionsTests {

    @Test
    void everyOptionCanBeGiven() {
        Options options = Options.parse(
                "--seed=7",
                "--messages=10",
                "--only=kill,cut-broker",
                "--sabotage=no-claim",
                "--listeners=batch,unique");

        assertThat(options.seed()).isEqualTo(7);
        assertThat(options.messages()).isEqualTo(10);
        assertThat(options.only()).containsExactly(Fault.KILL, Fault.CUT_BROKER);
        assertThat(options.sabotage()).isEqualTo(Sabotage.NO_CLAIM);
        assertThat(options.listeners()).containsExactly("batch", "unique");
    }

    @Test
    void whatIsUnknownIsRefusedWithWhatThereIs() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> Options.parse("--sed=7"))
                .withMessageContaining("--sed=7")
                .withMessageContaining("--seed=…");
        assertThatIllegalArgumentException().isThrownBy(() -> Options.parse("--messages=0"));
        assertThatIllegalArgumentException()
                .isThrownBy(() -> Options.parse("--listeners=bach"))
                .withMessageContaining("bach")
                .withMessageContaining("batch");
    }
}
