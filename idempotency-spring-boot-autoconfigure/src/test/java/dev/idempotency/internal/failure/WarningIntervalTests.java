package dev.idempotency.internal.failure;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class WarningIntervalTests {

    @Test
    void oneWarningPassesInEachInterval() {
        AtomicLong clock = new AtomicLong(Long.MAX_VALUE - 1);
        WarningInterval warnings = new WarningInterval(clock::get, Duration.ofMinutes(1));
        assertThat(warnings.isDue()).isTrue();
        clock.addAndGet(Duration.ofSeconds(59).toNanos());
        assertThat(warnings.isDue()).isFalse();
        clock.addAndGet(Duration.ofSeconds(1).toNanos());
        assertThat(warnings.isDue()).isTrue();
        assertThat(warnings.isDue()).isFalse();
    }
}
