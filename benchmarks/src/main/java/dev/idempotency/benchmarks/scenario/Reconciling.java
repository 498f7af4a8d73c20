package dev.idempotency.benchmarks.scenario;

import dev.idempotency.benchmarks.harness.BenchmarkApplication;
import dev.idempotency.benchmarks.measured.MeasuredListener;
import dev.idempotency.benchmarks.measured.MeasuredRecordListeners;
import dev.idempotency.benchmarks.report.Cell;
import dev.idempotency.benchmarks.report.ResultTable;
import dev.idempotency.job.JobState;
import dev.idempotency.reconciliation.Reconciliation;
import dev.idempotency.reconciliation.ReconciliationOutcome;
import dev.idempotency.reconciliation.ReconciliationReport;
import dev.idempotency.reconciliation.ReconciliationRequest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;
import org.springframework.jdbc.core.JdbcTemplate;

/** Reconciles a topic with the table: when nothing is missing, and when one record in a thousand is missing. */
public final class Reconciling implements Scenario {

    private static final int LIMIT = 1_000_000_000;
    private static final int ONE_IN = 1_000;

    private static final String REMEMBER = """
            insert into idempotency_processed
                (consumer_id, message_id, record_topic, record_partition, record_offset, processed_at)
            select ?, 'number-' || number, ?, 0, number, now() - interval '1 hour' + number * interval '1 microsecond'
            from generate_series(0, ? - 1) as number
            """;

    /** Does not delete the first row, which marks the beginning of what the consumer remembers. */
    private static final String FORGET = """
            delete from idempotency_processed where consumer_id = ? and record_offset % ? = 1
            """;

    @Override
    public ResultTable measure(Setting setting) {
        String listener = MeasuredRecordListeners.IDEMPOTENT.id();
        int records = setting.sizes().cleanupRows();
        Map<String, List<Double>> rates = new LinkedHashMap<>();
        List<List<Cell>> rows = new ArrayList<>();
        try (BenchmarkApplication application = BenchmarkApplication.start(
                setting.database(),
                MeasuredListener.classesOf(MeasuredRecordListeners.ours()),
                "idempotency.reconciliation.records-per-second=" + LIMIT)) {
            JdbcTemplate jdbc = application.jdbc();
            MeasuredRecordListeners.IDEMPOTENT.forgetAll(jdbc);
            String topic = application.publishNumberedAndCommit(records, listener);
            jdbc.update(REMEMBER, listener, topic, records);
            jdbc.execute("vacuum analyze idempotency_processed");
            Reconciliation reconciliation = application.bean(Reconciliation.class);
            reconcile(reconciliation, listener, records, 0);
            add("nothing missing", reconcile(reconciliation, listener, records, 0), rates, rows);
            int forgotten = jdbc.update(FORGET, listener, ONE_IN);
            add("one in a thousand", reconcile(reconciliation, listener, records, forgotten), rates, rows);
        }
        return new ResultTable(
                "Reconciliation",
                setting.describe(
                        "%,d records of 200 bytes in one partition, no limit of the rate, after one run to warm up"
                                .formatted(records)),
                List.of("missing", "records per second", "seconds"),
                rows,
                rates);
    }

    private static void add(
            String name, ReconciliationReport report, Map<String, List<Double>> rates, List<List<Cell>> rows) {
        double seconds = report.took().toMillis() / 1000.0;
        double rate = report.read() / seconds;
        rates.put(name, List.of(rate));
        rows.add(List.of(Cell.of(name), Cell.of(rate, 0), Cell.of(seconds, 1)));
    }

    private static ReconciliationReport reconcile(
            Reconciliation reconciliation, String consumer, int records, int missing) {
        reconciliation.start(ReconciliationRequest.of(consumer, Duration.ofDays(1)));
        ReconciliationReport report = reconciliation.lastReconciliation(consumer);
        while (report == null || report.state() == JobState.RUNNING) {
            LockSupport.parkNanos(Duration.ofMillis(5).toNanos());
            report = reconciliation.lastReconciliation(consumer);
        }
        if (report.state() != JobState.COMPLETED
                || report.read() != records
                || report.count(ReconciliationOutcome.MISSING) != missing) {
            throw new IllegalStateException(
                    "Of %d records %d should be missing: %s".formatted(records, missing, report));
        }
        return report;
    }
}
