package dev.idempotency.internal.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.store.StoreStatistics;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

class StoreWatchTests {

    private static final Duration INTERVAL = Duration.ofMinutes(1);

    private final AtomicLong clock = new AtomicLong(Long.MAX_VALUE - 5);
    private final AtomicInteger asked = new AtomicInteger();
    private final Queue<Runnable> thread = new ArrayDeque<>();
    private boolean down;
    private final StoreWatch watch = new StoreWatch(this::answer, INTERVAL, this.thread::add, this.clock::get);

    private StoreStatistics answer() {
        long times = this.asked.incrementAndGet();
        if (this.down) {
            throw new IllegalStateException("the database is down");
        }
        return new StoreStatistics(times, Map.of());
    }

    private void runThread() {
        while (!this.thread.isEmpty()) {
            this.thread.remove().run();
        }
    }

    private void waitFor(Duration time) {
        this.clock.addAndGet(time.toNanos());
    }

    @Test
    void aReaderOfAGaugeDoesNotWaitForTheStore() {
        assertThat(this.watch.latest()).isEqualTo(StoreStatistics.UNKNOWN);
        assertThat(this.asked).hasValue(0);
        runThread();
        assertThat(this.watch.latest().rows()).isEqualTo(1);
    }

    @Test
    void theStoreIsAskedOnceAnIntervalHoweverOftenItsGaugesAreRead() {
        for (int i = 0; i < 10; i++) {
            this.watch.latest();
        }
        runThread();
        waitFor(INTERVAL.minusNanos(1));
        for (int i = 0; i < 10; i++) {
            this.watch.latest();
            this.watch.current();
            runThread();
        }
        assertThat(this.asked).hasValue(1);
        waitFor(Duration.ofNanos(1));
        this.watch.latest();
        runThread();
        assertThat(this.asked).hasValue(2);
        assertThat(this.watch.latest().rows()).isEqualTo(2);
    }

    @Test
    @ExtendWith(OutputCaptureExtension.class)
    void whileTheStoreDoesNotAnswerNothingIsKnownAndTheLogSaysSoOnce(CapturedOutput output) {
        assertThat(this.watch.current().rows()).isEqualTo(1);
        this.down = true;
        for (int i = 0; i < 3; i++) {
            waitFor(INTERVAL);
            assertThat(this.watch.current()).isEqualTo(StoreStatistics.UNKNOWN);
        }
        assertThat(output).containsOnlyOnce("The store does not say how much it remembers");
        this.down = false;
        waitFor(INTERVAL);
        assertThat(this.watch.current().rows()).isNotNull();
    }
}
