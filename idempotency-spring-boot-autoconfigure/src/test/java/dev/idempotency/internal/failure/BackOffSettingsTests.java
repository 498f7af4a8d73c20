package dev.idempotency.internal.failure;

import static dev.idempotency.app.Thrown.assertThrown;
import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.springframework.util.backoff.BackOffExecution;

class BackOffSettingsTests {

    private final BackOffSettings settings = new BackOffSettings(Duration.ofMillis(400), Duration.ofSeconds(3), 3);

    @Test
    void pausesGrowUpToTheLongestAndStayThere() {
        assertThat(this.settings.pauseAfter(1)).isBetween(Duration.ofMillis(300), Duration.ofMillis(500));
        assertThat(this.settings.pauseAfter(2)).isBetween(Duration.ofMillis(600), Duration.ofMillis(1000));
        assertThat(this.settings.pauseAfter(3)).isBetween(Duration.ofMillis(1200), Duration.ofMillis(2000));
        assertThat(this.settings.pauseAfter(10_000)).isBetween(Duration.ofMillis(2250), Duration.ofSeconds(3));
    }

    @Test
    void consumersDoNotRetryInStep() {
        Set<Duration> pauses = IntStream.range(0, 200)
                .mapToObj(i -> this.settings.pauseAfter(3))
                .collect(Collectors.toSet());
        assertThat(pauses).hasSizeGreaterThan(20);
    }

    @Test
    void attemptsAreCountedWithTheFirst() {
        BackOffExecution retries = this.settings.toBackOff().start();
        assertThat(retries.nextBackOff()).isBetween(300L, 500L);
        assertThat(retries.nextBackOff()).isBetween(600L, 1000L);
        assertThat(retries.nextBackOff()).isEqualTo(BackOffExecution.STOP);
        BackOffSettings once = new BackOffSettings(Duration.ofMillis(400), Duration.ofSeconds(3), 1);
        assertThat(once.toBackOff().start().nextBackOff()).isEqualTo(BackOffExecution.STOP);
    }

    @Test
    void thereIsAtLeastOneAttempt() {
        Duration interval = Duration.ofSeconds(1);
        assertThrown(IllegalArgumentException.class, () -> new BackOffSettings(interval, interval, 0));
    }
}
