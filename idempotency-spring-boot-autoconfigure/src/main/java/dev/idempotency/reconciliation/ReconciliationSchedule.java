package dev.idempotency.reconciliation;

import dev.idempotency.ReconciliationException;
import dev.idempotency.reconciliation.ReconciliationReport.State;
import java.time.Duration;
import java.time.LocalDateTime;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.context.SmartLifecycle;
import org.springframework.scheduling.support.CronExpression;

/** Reconciles all consumers of this instance, one after the other, at the times of a cron expression; only looks, and sends nothing. */
public final class ReconciliationSchedule implements SmartLifecycle {

    private static final Logger logger = LoggerFactory.getLogger(ReconciliationSchedule.class);

    private static final Duration LOOK = Duration.ofMillis(200);

    private final Reconciliation reconciliation;
    private final CronExpression cron;
    private final Duration window;
    private @Nullable CountDownLatch stop;

    /**
     * A schedule that has not been started.
     *
     * @param cron when, in the time zone of this machine
     * @param window how far each run looks back
     */
    public ReconciliationSchedule(Reconciliation reconciliation, CronExpression cron, Duration window) {
        this.reconciliation = reconciliation;
        this.cron = cron;
        this.window = window;
    }

    @Override
    public synchronized void start() {
        if (this.stop == null) {
            CountDownLatch stopped = new CountDownLatch(1);
            Thread worker = new Thread(() -> run(stopped), "idempotency-reconciliation-schedule");
            worker.setDaemon(true);
            this.stop = stopped;
            worker.start();
        }
    }

    private void run(CountDownLatch stopped) {
        try {
            LocalDateTime next = this.cron.next(LocalDateTime.now());
            while (next != null
                    && !stopped.await(
                            Math.max(
                                    0,
                                    Duration.between(LocalDateTime.now(), next).toMillis()),
                            TimeUnit.MILLISECONDS)) {
                for (String consumer : this.reconciliation.consumers()) {
                    reconcile(consumer, stopped);
                }
                next = this.cron.next(LocalDateTime.now());
            }
        } catch (InterruptedException ex) {
            logger.debug("The schedule of reconciliations was interrupted and ends");
        }
    }

    private void reconcile(String consumer, CountDownLatch stopped) throws InterruptedException {
        try {
            this.reconciliation.start(ReconciliationRequest.of(consumer, this.window));
            while (isRunning(consumer)) {
                if (stopped.await(LOOK.toMillis(), TimeUnit.MILLISECONDS)) {
                    this.reconciliation.cancel(consumer);
                    return;
                }
            }
        } catch (ReconciliationException ex) {
            logger.info("No scheduled reconciliation: {}", ex.getMessage());
        } catch (RuntimeException ex) {
            logger.warn("The scheduled reconciliation of consumer '{}' could not be started", consumer, ex);
        }
    }

    private boolean isRunning(String consumer) {
        ReconciliationReport report = this.reconciliation.lastReconciliation(consumer);
        return report != null && report.state() == State.RUNNING;
    }

    @Override
    public synchronized void stop() {
        if (this.stop != null) {
            this.stop.countDown();
            this.stop = null;
        }
    }

    @Override
    public synchronized boolean isRunning() {
        return this.stop != null;
    }
}
