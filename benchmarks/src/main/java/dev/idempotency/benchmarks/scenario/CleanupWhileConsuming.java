package dev.idempotency.benchmarks.scenario;

import dev.idempotency.benchmarks.contender.Contender;
import dev.idempotency.benchmarks.contender.RecordContenders;
import dev.idempotency.benchmarks.report.Cell;
import dev.idempotency.benchmarks.report.ResultTable;
import dev.idempotency.benchmarks.report.Spread;
import dev.idempotency.benchmarks.stage.BenchmarkApplication;
import dev.idempotency.retention.Cleanup;
import dev.idempotency.retention.CleanupRun;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.springframework.jdbc.core.JdbcTemplate;

/**
 * Consumption while old messages are removed, compared with the same table left alone. The removal is over in its own
 * time; how much of the consumption it accompanied is told.
 */
public final class CleanupWhileConsuming implements Scenario {

    private static final String DISTURBED = "`@IdempotentListener`, during the cleanup";
    private static final String UNDISTURBED = "`@IdempotentListener`, without";

    /** What is old is so by the consumer's last activity. */
    private static final String BE_ACTIVE = """
            insert into idempotency_processed (consumer_id, message_id, record_topic, record_partition, record_offset)
            values (?, 'activity', 'benchmark', 0, 0)
            """;

    @Override
    public ResultTable measure(Setting setting) {
        Contender contender = RecordContenders.IDEMPOTENT;
        int messages = setting.sizes().messages();
        int old = setting.sizes().cleanupRows();
        List<Double> removalRates = new ArrayList<>();
        List<Double> accompanied = new ArrayList<>();
        try (BenchmarkApplication application =
                BenchmarkApplication.start(setting.database(), Contenders.classes(RecordContenders.ours()))) {
            JdbcTemplate jdbc = application.jdbc();
            Lane undisturbed = new Lane(UNDISTURBED, () -> {
                refill(contender, jdbc, old);
                double rate =
                        application.consume(contender.listener(), messages).recordsPerSecond();
                contender.checkEffects(jdbc, messages);
                return rate;
            });
            Lane disturbed = new Lane(DISTURBED, () -> {
                refill(contender, jdbc, old);
                CompletableFuture<Double> removal =
                        CompletableFuture.supplyAsync(() -> remove(application.bean(Cleanup.class), old));
                long start = System.nanoTime();
                double rate =
                        application.consume(contender.listener(), messages).recordsPerSecond();
                double seconds = (System.nanoTime() - start) / 1e9;
                double removalSeconds = removal.join();
                contender.checkEffects(jdbc, messages);
                removalRates.add(old / removalSeconds);
                accompanied.add(Math.min(1, removalSeconds / seconds) * 100);
                return rate;
            });
            Standings standings =
                    Race.run(List.of(undisturbed, disturbed), setting.sizes(), () -> application.publish(messages));
            List<List<Cell>> rows = new ArrayList<>(standings.rowsComparedWith(UNDISTURBED));
            rows.add(List.of(
                    Cell.of("rows removed, of %,d".formatted(old)),
                    Cell.none(),
                    Cell.none(),
                    Cell.median(Spread.of(removalRates), 0)));
            return new ResultTable(
                    "Cleanup while consuming",
                    setting.describeRounds()
                            + " The cleanup ran during %.0f %% of the consumption."
                                    .formatted(Spread.of(accompanied).median()),
                    Standings.COLUMNS,
                    rows,
                    standings.rates());
        }
    }

    private static void refill(Contender contender, JdbcTemplate jdbc, int old) {
        contender.forgetAll(jdbc);
        FilledTables.fillApplications(jdbc, old, contender.listener());
        jdbc.update(BE_ACTIVE, contender.listener());
    }

    /** Removes all old messages, and says how many seconds that took. */
    private static double remove(Cleanup cleanup, int expected) {
        long start = System.nanoTime();
        long removed = 0;
        CleanupRun run;
        do {
            run = cleanup.run();
            if (run.failure() != null) {
                throw run.failure();
            }
            removed += run.deleted();
        } while (!run.drained());
        if (removed != expected) {
            throw new IllegalStateException("%d rows were removed, not %d".formatted(removed, expected));
        }
        return (System.nanoTime() - start) / 1e9;
    }
}
