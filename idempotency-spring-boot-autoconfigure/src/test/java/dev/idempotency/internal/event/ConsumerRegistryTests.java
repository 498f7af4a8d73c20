package dev.idempotency.internal.event;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.DeduplicationStrategy;
import dev.idempotency.event.ConsumerDescription;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class ConsumerRegistryTests {

    @Test
    void theLongerRetentionOfTheSameConsumerWins() {
        ConsumerRegistry registry =
                () -> List.of(consumer("billing", Duration.ofDays(7)), consumer("billing", Duration.ofDays(1)));
        assertThat(registry.names()).containsExactly("billing");
        assertThat(registry.retentions()).isEqualTo(Map.of("billing", Duration.ofDays(7)));
    }

    private static ConsumerDescription consumer(String name, Duration retention) {
        return new ConsumerDescription(
                name, "Orders.on", List.of("orders"), "group", "header", retention, DeduplicationStrategy.MESSAGE_ID);
    }
}
