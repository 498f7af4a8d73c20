package dev.idempotency.retention;

import static dev.idempotency.app.Thrown.undeclared;
import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.event.CleanupRun;
import dev.idempotency.retention.Cleanup.CleanupStatus;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.dao.DataAccessResourceFailureException;

@ExtendWith(OutputCaptureExtension.class)
class CleanupTests {

    private static final int BATCH_SIZE = 10;
    private static final long ROWS_PER_RUN = 1000;

    private final List<String> protocol = new ArrayList<>();
    private String failing = "none";

    @Test
    void everyBacklogIsDrainedABatchOfEachInTurn() {
        AtomicInteger many = new AtomicInteger(25);
        AtomicInteger few = new AtomicInteger(5);
        CleanupRun run = cleanup(ROWS_PER_RUN, task("processed", many, few)).run();
        assertThat(List.of(many.get(), few.get())).containsOnly(0);
        assertThat(this.protocol).containsExactly("processed-0", "processed-1", "processed-0", "processed-0");
        assertThat(run.keepsUp()).isTrue();
        assertThat(run.deleted()).isEqualTo(30);
    }

    @Test
    void aRunEndsAtItsLimitAndSaysThatItDoesNotKeepUp(CapturedOutput output) {
        Cleanup cleanup = cleanup(25, task("processed", new AtomicInteger(60)));
        assertThat(cleanup.run().deleted()).isEqualTo(25);
        assertThat(cleanup.run().deleted()).isEqualTo(25);
        assertThat(cleanup.status().keepsUp()).isFalse();
        assertThat(output).contains("does not keep up");
        assertThat(cleanup.run().deleted()).isEqualTo(10);
        assertThat(cleanup.status().keepsUp()).isTrue();
    }

    @Test
    void theStatusAddsUpTheRuns() {
        AtomicInteger rows = new AtomicInteger(12);
        Cleanup cleanup = cleanup(ROWS_PER_RUN, task("processed", rows), task("inbox", new AtomicInteger(3)));
        assertThat(cleanup.status()).isEqualTo(new CleanupStatus(null, null, 0, 0, 0));
        assertThat(cleanup.status().keepsUp()).isTrue();
        CleanupRun first = cleanup.run();
        this.failing = "processed";
        CleanupRun failed = cleanup.run();
        assertThat(cleanup.status()).isEqualTo(new CleanupStatus(failed, first, 2, 1, 15));
        this.failing = "none";
        rows.set(4);
        CleanupRun last = cleanup.run();
        assertThat(cleanup.status()).isEqualTo(new CleanupStatus(last, last, 3, 1, 19));
        assertThat(last.deletedByTask()).isEqualTo(Map.of("processed", 4L, "inbox", 0L));
        assertThat(last.took()).isGreaterThan(Duration.ZERO);
    }

    @Test
    void aTaskThatFailsIsLeftForThisRunAndKeepsNoOtherFromItsWork(CapturedOutput output) {
        this.failing = "processed";
        AtomicInteger rows = new AtomicInteger(5);
        CleanupRun run = cleanup(
                        ROWS_PER_RUN, task("processed", rows, rows, rows), task("inbox", new AtomicInteger(12)))
                .run();
        assertThat(this.protocol).containsExactly("processed-0", "inbox-0", "inbox-0");
        assertThat(run.failed()).isTrue();
        assertThat(run.keepsUp()).isFalse();
        assertThat(run.deleted()).isEqualTo(12);
        assertThat(output).contains("Old rows could not be removed");
    }

    @Test
    void whateverATaskOfTheApplicationThrowsTheOthersRun() {
        RuntimeException again = new IllegalStateException("again");
        AtomicInteger rows = new AtomicInteger(1);
        CleanupRun run = cleanup(
                        ROWS_PER_RUN,
                        new ThrowingTask("theirs", new NoClassDefFoundError("Theirs")),
                        new ThrowingTask(null, again),
                        new ThrowingTask("theirs as well", again),
                        task("inbox", rows))
                .run();
        assertThat(run.failure()).hasRootCauseMessage("Theirs").hasMessageContaining(ThrowingTask.class.getName());
        assertThat(run.failure().getSuppressed()).hasSize(2);
        assertThat(rows).hasValue(0);
    }

    private record ThrowingTask(@Nullable String name, Throwable failure) implements CleanupTask {

        @Override
        public List<CleanupTask.Backlog> backlogs() {
            throw undeclared(this.failure);
        }
    }

    @Test
    void aRunThatIsToldToStopEndsAfterItsBatchAndIsNotSaidToBeBehind(CapturedOutput output) {
        AtomicInteger rows = new AtomicInteger(50);
        CleanupRun run = cleanup(ROWS_PER_RUN, task("processed", rows)).run(new CountDownLatch(0));
        assertThat(rows).hasValue(40);
        assertThat(run.keepsUp()).isFalse();
        assertThat(output.toString()).doesNotContain("does not keep up");
    }

    private static Cleanup cleanup(long rowsPerRun, CleanupTask... tasks) {
        return new Cleanup(List.of(tasks), BATCH_SIZE, rowsPerRun, List.of());
    }

    private record Task(String name, List<CleanupTask.Backlog> backlogs) implements CleanupTask {}

    /** A task with counters as backlogs; the one named by {@code failing} fails. */
    private CleanupTask task(String name, AtomicInteger... backlogs) {
        return new Task(
                name,
                IntStream.range(0, backlogs.length)
                        .<CleanupTask.Backlog>mapToObj(i -> limit -> remove(name + "-" + i, backlogs[i], limit))
                        .toList());
    }

    private int remove(String backlog, AtomicInteger rows, int limit) {
        this.protocol.add(backlog);
        if (backlog.startsWith(this.failing)) {
            throw new DataAccessResourceFailureException("down");
        }
        int removed = Math.min(rows.get(), limit);
        rows.addAndGet(-removed);
        return removed;
    }
}
