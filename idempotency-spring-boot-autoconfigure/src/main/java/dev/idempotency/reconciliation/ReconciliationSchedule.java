package dev.idempotency.reconciliation;

import dev.idempotency.ReconciliationException;
import dev.idempotency.job.RepeatedWork;
import dev.idempotency.reconciliation.ReconciliationReport.State;
import java.time.Duration;
import java.time.ZonedDateTime;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.scheduling.support.CronExpression;

/** Reconciles the last day of all consumers of this instance, one after the other, at the times of a cron expression. */
public final class ReconciliationSchedule extends RepeatedWork {

    private static final Logger logger = LoggerFactory.getLogger(ReconciliationSchedule.class);

    static final String THREAD_NAME = "idempotency-reconciliation-schedule";

    private static final Duration WINDOW = Duration.ofHours(24);

    private static final Duration LOOK = Duration.ofMillis(200);

    private final Reconciliation reconciliation;
    private final CronExpression cron;

    /** A schedule that has not been started; {@code cron} is in the time zone of this machine. */
    public ReconciliationSchedule(Reconciliation reconciliation, CronExpression cron) {
        super(THREAD_NAME);
        this.reconciliation = reconciliation;
        this.cron = cron;
    }

    @Override
    protected @Nullable Duration pauseAfter(long runs) {
        return pauseFrom(ZonedDateTime.now());
    }

    /** In the time that passes: where clocks are changed, a day has an hour more or less. */
    @Nullable
    Duration pauseFrom(ZonedDateTime now) {
        ZonedDateTime next = this.cron.next(now);
        return (next != null) ? Duration.between(now, next) : null;
    }

    @Override
    protected void work(CountDownLatch stop) throws InterruptedException {
        for (String consumer : this.reconciliation.consumers()) {
            try {
                this.reconciliation.start(ReconciliationRequest.of(consumer, WINDOW));
                ReconciliationReport report;
                do {
                    if (stop.await(LOOK.toMillis(), TimeUnit.MILLISECONDS)) {
                        this.reconciliation.cancel(consumer);
                        return;
                    }
                    report = this.reconciliation.lastReconciliation(consumer);
                } while (report != null && report.state() == State.RUNNING);
            } catch (ReconciliationException ex) {
                logger.info("No scheduled reconciliation: {}", ex.getMessage());
            } catch (RuntimeException ex) {
                logger.warn("The scheduled reconciliation of consumer '{}' could not be started", consumer, ex);
            }
        }
    }
}
