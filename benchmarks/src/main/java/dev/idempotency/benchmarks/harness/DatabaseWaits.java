package dev.idempotency.benchmarks.harness;

import java.util.Comparator;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Collectors;
import org.springframework.jdbc.core.JdbcTemplate;

/**
 * Samples, every few milliseconds, the events for which the database's sessions wait in a transaction. Sampling costs time,
 * so rates that are measured meanwhile are lower.
 */
public final class DatabaseWaits {

    private static final long PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(3);

    private static final int SHOWN = 4;

    private static final String LOOK = """
            select coalesce(wait_event_type || ':' || wait_event, 'running') as wait, count(*) as sessions
            from pg_stat_activity
            where backend_type = 'client backend' and pid <> pg_backend_pid() and state <> 'idle'
            group by wait
            """;

    private final JdbcTemplate jdbc;
    private final Map<String, Integer> seen = new HashMap<>();

    public DatabaseWaits(JdbcTemplate jdbc) {
        this.jdbc = jdbc;
    }

    /** Samples while {@code turn} runs. */
    public void during(Runnable turn) {
        AtomicBoolean running = new AtomicBoolean(true);
        CompletableFuture<Void> looking = CompletableFuture.runAsync(() -> {
            while (running.get()) {
                look();
                LockSupport.parkNanos(PAUSE_NANOS);
            }
        });
        try {
            turn.run();
        } finally {
            running.set(false);
            looking.join();
        }
    }

    private void look() {
        this.jdbc.query(LOOK, row -> {
            this.seen.merge(row.getString("wait"), row.getInt("sessions"), Integer::sum);
        });
    }

    /** Returns the most frequent events with their shares, such as {@code IO:WalSync 61 %, running 20 %}. */
    public String describe() {
        double all = this.seen.values().stream().mapToInt(Integer::intValue).sum();
        if (all == 0) {
            return "none seen";
        }
        return this.seen.entrySet().stream()
                .sorted(Map.Entry.<String, Integer>comparingByValue(Comparator.reverseOrder())
                        .thenComparing(Map.Entry.comparingByKey()))
                .limit(SHOWN)
                .map(wait -> String.format(Locale.ROOT, "%s %.0f %%", wait.getKey(), 100 * wait.getValue() / all))
                .collect(Collectors.joining(", "));
    }
}
