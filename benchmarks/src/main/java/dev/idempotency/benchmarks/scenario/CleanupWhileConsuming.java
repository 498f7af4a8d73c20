package dev.idempotency.benchmarks.scenario;

import dev.idempotency.benchmarks.harness.AlternatingListeners;
import dev.idempotency.benchmarks.harness.BenchmarkApplication;
import dev.idempotency.benchmarks.measured.MeasuredListener;
import dev.idempotency.benchmarks.measured.MeasuredRecordListeners;
import dev.idempotency.benchmarks.report.Cell;
import dev.idempotency.benchmarks.report.ResultTable;
import dev.idempotency.event.CleanupRun;
import dev.idempotency.internal.event.ConsumerRegistry;
import dev.idempotency.internal.retention.ProcessedMessageCleanup;
import dev.idempotency.internal.store.JdbcProcessedMessageStore;
import dev.idempotency.internal.store.ProcessedMessagePurge;
import dev.idempotency.retention.Cleanup;
import dev.idempotency.retention.CleanupTask;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;
import org.springframework.jdbc.core.JdbcTemplate;

/**
 * Consumption while the cleanup removes old messages, compared with turns without the cleanup: it runs in every other turn,
 * until it has removed all expired rows.
 */
public final class CleanupWhileConsuming implements Scenario {

    private static final String DISTURBED = "`@IdempotentListener`, during the cleanup";
    private static final String UNDISTURBED = "`@IdempotentListener`, without";

    /** Few rows, so that the cleanup ends soon after its turn. */
    private static final int ROWS_PER_RUN = 5_000;

    private static final int BATCH_SIZE = 1_000;

    /** Rows expire relative to the consumer's last activity, unless it has paused for longer than its retention. */
    private static final String BE_ACTIVE = """
            insert into idempotency_processed
                (consumer_id, message_id, processed_at, record_topic, record_partition, record_offset)
            select ?, 'activity-' || days, current_timestamp - days * interval '1 day', 'benchmark', 0, 0
            from (values (6.5), (0)) as activity (days)
            """;

    @Override
    public ResultTable measure(Setting setting) {
        String listener = MeasuredRecordListeners.IDEMPOTENT.id();
        Sizes sizes = setting.sizes();
        int messages = sizes.messages();
        // At most one turn is needed for every run of the cleanup.
        int turnsAtMost = 2 * (sizes.warmUps() + 1 + sizes.cleanupRows() / ROWS_PER_RUN + 1);
        int supply = turnsAtMost * messages + Sizes.LEFT_OVER;
        List<Double> undisturbed = new ArrayList<>();
        List<Double> disturbed = new ArrayList<>();
        try (BenchmarkApplication application = BenchmarkApplication.start(
                setting.database(), MeasuredListener.classesOf(MeasuredRecordListeners.ours()))) {
            JdbcTemplate jdbc = application.jdbc();
            MeasuredRecordListeners.IDEMPOTENT.forgetAll(jdbc);
            FilledTables.fillApplications(jdbc, sizes.cleanupRows(), listener);
            jdbc.update(BE_ACTIVE, listener);
            application.publish(supply);
            CleanupTask task = new ProcessedMessageCleanup(
                    "processed",
                    new ProcessedMessagePurge(
                            application.bean(JdbcProcessedMessageStore.class).database()),
                    ConsumerRegistry.of(application.beans(ConsumerRegistry.class)::stream)::retentions,
                    null);
            Removal removal = new Removal(new Cleanup(List.of(task), BATCH_SIZE, ROWS_PER_RUN, List.of()));
            try (AlternatingListeners turns = application.alternate(List.of(listener), supply)) {
                for (int i = 0; i < 2 * sizes.warmUps(); i++) {
                    turns.measure(listener, messages);
                }
                while (!removal.isComplete()) {
                    undisturbed.add(turns.measure(listener, messages).recordsPerSecond());
                    disturbed.add(removal.during(
                            () -> turns.measure(listener, messages).recordsPerSecond()));
                }
                MeasuredRecordListeners.IDEMPOTENT.checkEffects(jdbc, turns.total(listener));
            }
            removal.check(sizes.cleanupRows());
            Map<String, List<Double>> rates = new LinkedHashMap<>();
            rates.put(UNDISTURBED, undisturbed);
            rates.put(DISTURBED, disturbed);
            ComparedRates compared = new ComparedRates(rates, Map.of());
            List<List<Cell>> rows = new ArrayList<>(compared.rowsComparedWith(UNDISTURBED));
            rows.add(List.of(
                    Cell.of("rows removed, of %,d".formatted(sizes.cleanupRows())),
                    Cell.none(),
                    Cell.none(),
                    Cell.of(removal.rowsPerSecond(), 0)));
            return new ResultTable(
                    "Cleanup while consuming",
                    setting.describe(
                            "%,d messages a turn; the cleanup, in transactions of 1 000 rows, worked in %d of %d"
                                    .formatted(messages, disturbed.size(), 2 * disturbed.size())),
                    ComparedRates.COLUMNS,
                    rows,
                    rates);
        }
    }

    /** A cleanup that runs during some of the turns. */
    private static final class Removal {

        private final Cleanup cleanup;
        private long rows;
        private double seconds;
        private volatile boolean complete;

        Removal(Cleanup cleanup) {
            this.cleanup = cleanup;
        }

        /** Runs the cleanup during a measurement, or until nothing is left. */
        double during(Supplier<Double> measurement) {
            AtomicBoolean measuring = new AtomicBoolean(true);
            CompletableFuture<Void> work = CompletableFuture.runAsync(() -> {
                while (measuring.get() && !this.complete) {
                    work();
                }
            });
            try {
                return measurement.get();
            } finally {
                measuring.set(false);
                work.join();
            }
        }

        private void work() {
            CleanupRun run = this.cleanup.run();
            if (run.failure() != null) {
                throw run.failure();
            }
            this.rows += run.deleted();
            this.seconds += run.took().toNanos() / 1e9;
            this.complete = run.keepsUp();
        }

        boolean isComplete() {
            return this.complete;
        }

        double rowsPerSecond() {
            return this.rows / this.seconds;
        }

        void check(int expected) {
            if (this.rows != expected) {
                throw new IllegalStateException("%d rows were removed, not %d".formatted(this.rows, expected));
            }
        }
    }
}
