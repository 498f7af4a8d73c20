package dev.idempotency.retention;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.observe.ConsumerDescription;
import dev.idempotency.observe.ConsumerObserver;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class ConsumerRetentionsTests {

    private final ConsumerRetentions retentions = new ConsumerRetentions();

    @Test
    void learnsHowLongEachConsumerRemembersAndObservesNothingElse() {
        assertThat(this.retentions.observe(consumer("billing", Duration.ofDays(7))))
                .isSameAs(ConsumerObserver.NO_OP);
        this.retentions.observe(consumer("mailing", Duration.ofHours(1)));
        assertThat(this.retentions.byConsumer())
                .isEqualTo(Map.of("billing", Duration.ofDays(7), "mailing", Duration.ofHours(1)));
    }

    @Test
    void theLongerRetentionOfTheSameConsumerWins() {
        this.retentions.observe(consumer("billing", Duration.ofDays(7)));
        this.retentions.observe(consumer("billing", Duration.ofDays(1)));
        assertThat(this.retentions.byConsumer()).containsEntry("billing", Duration.ofDays(7));
    }

    private static ConsumerDescription consumer(String name, Duration retention) {
        return new ConsumerDescription(name, "Orders.on", List.of("orders"), "group", "header", retention);
    }
}
