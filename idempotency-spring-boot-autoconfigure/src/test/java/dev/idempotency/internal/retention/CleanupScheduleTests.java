package dev.idempotency.internal.retention;

import static dev.idempotency.app.Thrown.undeclared;
import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.retention.Cleanup;
import dev.idempotency.retention.CleanupTask;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.beans.BeanUtils;

class CleanupScheduleTests {

    private final BlockingQueue<Thread> runs = new LinkedBlockingQueue<>();
    private CleanupSchedule schedule;

    @AfterEach
    void stop() {
        this.schedule.stop();
    }

    @ParameterizedTest
    @ValueSource(classes = {Object.class, IllegalStateException.class, OutOfMemoryError.class})
    void runsAgainAndAgainOnOneDaemonThreadWhateverIsThrown(Class<?> thrown) throws InterruptedException {
        start(limit -> {
            if (thrown != Object.class) {
                throw undeclared((Throwable) BeanUtils.instantiateClass(thrown));
            }
            return 0;
        });
        Set<Thread> threads = new HashSet<>();
        for (int run = 0; run < 3; run++) {
            threads.add(nextRun());
        }
        assertThat(threads).singleElement().satisfies(thread -> {
            assertThat(thread.getName()).isEqualTo("idempotency-cleanup");
            assertThat(thread.isDaemon()).isTrue();
        });
    }

    @Test
    void stoppingWaitsForTheBatchAndCanBeUndone() throws InterruptedException {
        CountDownLatch release = new CountDownLatch(1);
        start(limit -> {
            try {
                release.await();
            } catch (InterruptedException ex) {
                throw new IllegalStateException("A batch must not be interrupted", ex);
            }
            return limit;
        });
        Thread first = nextRun();
        Thread stopping = new Thread(this.schedule::stop);
        stopping.start();
        Awaitility.await().until(stopping::getState, Thread.State.TIMED_WAITING::equals);
        assertThat(first.isAlive()).isTrue();
        release.countDown();
        stopping.join();
        assertThat(first.isAlive()).isFalse();
        assertThat(this.schedule.isRunning()).isFalse();
        this.schedule.start();
        assertThat(nextRun()).isNotSameAs(first);
    }

    @Test
    void pausesDifferButNotByMuch() {
        this.schedule = new CleanupSchedule(new Cleanup(List.of(), List.of()), Duration.ofSeconds(60));
        Set<Duration> pauses = new HashSet<>();
        for (int i = 0; i < 100; i++) {
            pauses.add(this.schedule.nextPause());
        }
        assertThat(pauses).hasSizeGreaterThan(50).allSatisfy(pause -> assertThat(pause)
                .isBetween(Duration.ofSeconds(48), Duration.ofSeconds(72)));
    }

    private void start(CleanupTask.Backlog backlog) {
        CleanupTask task = new CleanupTask() {

            @Override
            public String name() {
                return "test";
            }

            @Override
            public List<Backlog> backlogs() {
                CleanupScheduleTests.this.runs.add(Thread.currentThread());
                return List.of(backlog);
            }
        };
        this.schedule = new CleanupSchedule(new Cleanup(List.of(task), List.of()), Duration.ofMillis(1));
        this.schedule.start();
    }

    private Thread nextRun() throws InterruptedException {
        Thread thread = this.runs.poll(30, TimeUnit.SECONDS);
        assertThat(thread).as("thread of a run").isNotNull();
        return thread;
    }
}
