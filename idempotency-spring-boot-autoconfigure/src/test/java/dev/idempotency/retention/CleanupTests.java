package dev.idempotency.retention;

import static dev.idempotency.app.Thrown.undeclared;
import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.event.CleanupRun;
import dev.idempotency.event.IdempotencyEventListener;
import dev.idempotency.retention.Cleanup.CleanupStatus;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
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

    @Test
    void everyBacklogIsDrainedABatchOfEachInTurn() {
        RowsInMemory rows = new RowsInMemory("processed", this.protocol, 25, 5);
        CleanupRun run = cleanup(ROWS_PER_RUN, rows).run();
        assertThat(rows.remaining()).containsExactly(0, 0);
        assertThat(this.protocol).containsExactly("processed-0", "processed-1", "processed-0", "processed-0");
        assertThat(run.keepsUp()).isTrue();
        assertThat(run.deleted()).isEqualTo(30);
    }

    @Test
    void aRunEndsAtItsLimitAndSaysThatItDoesNotKeepUp(CapturedOutput output) {
        RowsInMemory rows = new RowsInMemory("processed", this.protocol, 60);
        Cleanup cleanup = cleanup(25, rows);
        assertThat(cleanup.run().deleted()).isEqualTo(25);
        assertThat(cleanup.run().deleted()).isEqualTo(25);
        assertThat(cleanup.status().keepsUp()).isFalse();
        assertThat(output).contains("does not keep up");
        assertThat(cleanup.run().deleted()).isEqualTo(10);
        assertThat(cleanup.status().keepsUp()).isTrue();
    }

    @Test
    void theStatusAddsUpTheRuns() {
        RowsInMemory rows = new RowsInMemory("processed", this.protocol, 12);
        Cleanup cleanup = cleanup(ROWS_PER_RUN, rows, new RowsInMemory("inbox", this.protocol, 3));
        assertThat(cleanup.status()).isEqualTo(new CleanupStatus(null, null, 0, 0, 0));
        assertThat(cleanup.status().keepsUp()).isTrue();
        CleanupRun first = cleanup.run();
        rows.failWith(new DataAccessResourceFailureException("down"));
        CleanupRun failed = cleanup.run();
        assertThat(cleanup.status()).isEqualTo(new CleanupStatus(failed, first, 2, 1, 15));
        rows.failWith(null);
        rows.refill(4);
        CleanupRun last = cleanup.run();
        assertThat(cleanup.status()).isEqualTo(new CleanupStatus(last, last, 3, 1, 19));
        assertThat(last.deletedByTask()).isEqualTo(Map.of("processed", 4L, "inbox", 0L));
        assertThat(last.took()).isGreaterThan(Duration.ZERO);
    }

    @Test
    void aTaskThatFailsIsLeftForThisRunAndKeepsNoOtherFromItsWork(CapturedOutput output) {
        RowsInMemory failing = new RowsInMemory("processed", this.protocol, 5, 5, 5);
        failing.failWith(new DataAccessResourceFailureException("down"));
        RowsInMemory working = new RowsInMemory("inbox", this.protocol, 12);
        CleanupRun run = cleanup(ROWS_PER_RUN, failing, working).run();
        assertThat(this.protocol).containsExactly("processed-0", "inbox-0", "inbox-0");
        assertThat(working.remaining()).containsExactly(0);
        assertThat(run.failed()).isTrue();
        assertThat(run.keepsUp()).isFalse();
        assertThat(run.deleted()).isEqualTo(12);
        assertThat(output).contains("Old rows could not be removed");
    }

    @Test
    void whateverATaskOfTheApplicationThrowsTheOthersRun() {
        RuntimeException again = new IllegalStateException("again");
        RowsInMemory working = new RowsInMemory("inbox", this.protocol, 1);
        CleanupRun run = cleanup(
                        ROWS_PER_RUN,
                        new ThrowingTask("theirs", new NoClassDefFoundError("Theirs")),
                        new ThrowingTask(null, again),
                        new ThrowingTask("theirs as well", again),
                        working)
                .run();
        assertThat(run.failure()).hasRootCauseMessage("Theirs").hasMessageContaining(ThrowingTask.class.getName());
        assertThat(run.failure().getSuppressed()).hasSize(2);
        assertThat(working.remaining()).containsExactly(0);
    }

    private record ThrowingTask(@Nullable String name, Throwable failure) implements CleanupTask {

        @Override
        public List<Backlog> backlogs() {
            throw undeclared(this.failure);
        }
    }

    private interface Observer extends IdempotencyEventListener {

        @Override
        void cleanupRan(CleanupRun run);
    }

    @Test
    void observersHearOfEveryRunAndCanBreakNone(CapturedOutput output) {
        RowsInMemory rows = new RowsInMemory("processed", this.protocol, 5);
        List<CleanupRun> heard = new ArrayList<>();
        Observer broken = run -> {
            throw new IllegalStateException("broken observer");
        };
        Observer hearing = heard::add;
        Cleanup cleanup = new Cleanup(List.of(rows), BATCH_SIZE, ROWS_PER_RUN, List.of(broken, hearing));
        CleanupRun first = cleanup.run();
        assertThat(heard).containsExactly(first);
        assertThat(first.deleted()).isEqualTo(5);
        assertThat(first.failure()).isNull();
        rows.failWith(new DataAccessResourceFailureException("down"));
        CleanupRun second = cleanup.run();
        assertThat(heard).containsExactly(first, second);
        assertThat(second.failure()).hasMessageContaining("down");
        assertThat(output).contains("broken observer");
    }

    @Test
    void aRunThatIsToldToStopEndsAfterItsBatchAndIsNotSaidToBeBehind(CapturedOutput output) {
        RowsInMemory rows = new RowsInMemory("processed", this.protocol, 50);
        CleanupRun run = cleanup(ROWS_PER_RUN, rows).run(new CountDownLatch(0));
        assertThat(rows.remaining()).containsExactly(40);
        assertThat(run.keepsUp()).isFalse();
        assertThat(output.toString()).doesNotContain("does not keep up");
    }

    private static Cleanup cleanup(long rowsPerRun, CleanupTask... tasks) {
        return new Cleanup(List.of(tasks), BATCH_SIZE, rowsPerRun, List.of());
    }

    /** A task whose backlog is a number, and that fails when told to. */
    private static final class RowsInMemory implements CleanupTask {

        private final String name;
        private final List<AtomicInteger> backlogs;
        private final List<String> protocol;
        private @Nullable RuntimeException failure;

        RowsInMemory(String name, List<String> protocol, int... backlogs) {
            this.name = name;
            this.protocol = protocol;
            this.backlogs = Arrays.stream(backlogs).mapToObj(AtomicInteger::new).toList();
        }

        void failWith(@Nullable RuntimeException ex) {
            this.failure = ex;
        }

        List<Integer> remaining() {
            return this.backlogs.stream().map(AtomicInteger::get).toList();
        }

        void refill(int rows) {
            this.backlogs.forEach(backlog -> backlog.set(rows));
        }

        @Override
        public String name() {
            return this.name;
        }

        @Override
        public List<Backlog> backlogs() {
            return this.backlogs.stream()
                    .<Backlog>map(rows -> limit -> remove(rows, limit))
                    .toList();
        }

        private int remove(AtomicInteger rows, int limit) {
            this.protocol.add(this.name + "-" + this.backlogs.indexOf(rows));
            if (this.failure != null) {
                throw this.failure;
            }
            int removed = Math.min(rows.get(), limit);
            rows.addAndGet(-removed);
            return removed;
        }
    }
}
