package dev.idempotency.retention;

import static org.assertj.core.api.Assertions.assertThat;

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

class CleanupScheduleTests {

    private static final Duration SOON = Duration.ofMillis(5);
    private static final Duration NOT_IN_THIS_TEST = Duration.ofHours(1);

    private final BlockingQueue<Thread> runs = new LinkedBlockingQueue<>();
    private CleanupSchedule schedule;

    @AfterEach
    void stop() {
        this.schedule.stop();
    }

    @Test
    void runsAgainAndAgainOnOneDaemonThreadOfItsOwn() throws InterruptedException {
        start(SOON, limit -> 0);
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
    void aFailureIsTriedAgain() throws InterruptedException {
        start(SOON, limit -> {
            throw new IllegalStateException("on purpose");
        });
        nextRun();
        nextRun();
    }

    @Test
    void whateverIsThrownDoesNotEndTheSchedule() throws InterruptedException {
        start(SOON, limit -> {
            throw new OutOfMemoryError("on purpose");
        });
        nextRun();
        nextRun();
    }

    @Test
    void theFirstRunDoesNotWaitForALongInterval() {
        this.schedule = schedule(Duration.ofHours(1), limit -> 0);
        assertThat(this.schedule.pauseAfter(0)).isLessThan(Duration.ofMinutes(1));
        assertThat(this.schedule.pauseAfter(1)).isGreaterThan(Duration.ofMinutes(47));
    }

    @Test
    void stoppingWaitsForTheBatchAndCanBeUndone() throws InterruptedException {
        CountDownLatch release = new CountDownLatch(1);
        start(SOON, limit -> {
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
        this.schedule = schedule(NOT_IN_THIS_TEST, limit -> 0);
        Set<Duration> pauses = new HashSet<>();
        for (int i = 0; i < 100; i++) {
            pauses.add(CleanupSchedule.jittered(Duration.ofSeconds(60)));
        }
        assertThat(pauses).hasSizeGreaterThan(50).allSatisfy(pause -> assertThat(pause)
                .isBetween(Duration.ofSeconds(48), Duration.ofSeconds(72)));
    }

    private void start(Duration interval, CleanupTask.Backlog backlog) {
        this.schedule = schedule(interval, backlog);
        this.schedule.start();
    }

    private CleanupSchedule schedule(Duration interval, CleanupTask.Backlog backlog) {
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
        Cleanup cleanup = new Cleanup(List.of(task), 10, 1000, List.of());
        return new CleanupSchedule(cleanup, interval);
    }

    private Thread nextRun() throws InterruptedException {
        Thread thread = this.runs.poll(30, TimeUnit.SECONDS);
        assertThat(thread).as("thread of a run").isNotNull();
        return thread;
    }
}
