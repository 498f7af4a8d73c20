package dev.idempotency.chaos;

import dev.idempotency.chaos.fault.Servers;
import java.time.Duration;
import org.springframework.dao.DataAccessException;

/** Polls the number of effects, and measures the longest time without a new one. */
final class EffectsWatch implements AutoCloseable {

    private static final Duration INTERVAL = Duration.ofMillis(500);

    private final Servers servers;
    private final Thread thread = new Thread(this::watch, "effects");
    private volatile long count;
    private volatile long lastChange = System.nanoTime();
    private volatile long longestPause;
    private volatile boolean closed;

    private EffectsWatch(Servers servers) {
        this.servers = servers;
    }

    static EffectsWatch start(Servers servers) {
        EffectsWatch watch = new EffectsWatch(servers);
        watch.thread.setDaemon(true);
        watch.thread.start();
        return watch;
    }

    /** Sends messages until the first of them are applied: earlier faults would only test the start-up. */
    void awaitFirst(MessageSource source) throws InterruptedException {
        while (this.count == 0) {
            source.sendNext();
            Thread.sleep(INTERVAL.toMillis());
        }
        this.longestPause = 0;
    }

    /** The approximate number of effects, including rolled back ones, as an exact count would take too long. */
    long count() {
        return this.count;
    }

    Duration longestPause() {
        return Duration.ofNanos(this.longestPause);
    }

    private void watch() {
        while (!this.closed) {
            try {
                Long now = this.servers.jdbc().queryForObject("select max(number) from effect", Long.class);
                if (now != null && now > this.count) {
                    this.longestPause = Math.max(this.longestPause, System.nanoTime() - this.lastChange);
                    this.lastChange = System.nanoTime();
                    this.count = now;
                }
                Thread.sleep(INTERVAL.toMillis());
            } catch (DataAccessException ex) {
                // The database is down, as intended.
            } catch (InterruptedException ex) {
                return;
            }
        }
    }

    @Override
    public void close() {
        this.closed = true;
        this.thread.interrupt();
    }
}
