package dev.idempotency.autoconfigure;

import dev.idempotency.reconciliation.ReconciliationRequest;
import java.time.Duration;
import java.time.LocalDateTime;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.scheduling.support.CronExpression;

/**
 * Settings under {@code idempotency.reconciliation}: how topics are held against what is remembered.
 *
 * @param recordsPerSecond how many records a reconciliation reads per second at most
 * @param cron when all consumers of this instance are reconciled, as in '0 0 4 * * *', or '-' for never
 * @param window how far a reconciliation by the schedule looks back
 */
@ConfigurationProperties("idempotency.reconciliation")
public record ReconciliationProperties(
        @DefaultValue("5000") int recordsPerSecond,
        @DefaultValue("-") String cron,
        @DefaultValue("24h") Duration window) {

    private static final String NEVER = "-";

    public ReconciliationProperties {
        if (recordsPerSecond < 1) {
            throw new IllegalArgumentException(
                    "idempotency.reconciliation.records-per-second must be at least 1, but is " + recordsPerSecond);
        }
        if (!cron.equals(NEVER) && !CronExpression.isValidExpression(cron)) {
            throw new IllegalArgumentException(
                    "idempotency.reconciliation.cron must be a cron expression of six fields, such as '0 0 4 * * *', or '-' for never, but is '%s'"
                            .formatted(cron));
        }
        if (!cron.equals(NEVER) && CronExpression.parse(cron).next(LocalDateTime.now()) == null) {
            throw new IllegalArgumentException(
                    "idempotency.reconciliation.cron must be of a time that comes, or '-' for never, but is '%s'"
                            .formatted(cron));
        }
        if (window.isNegative() || window.isZero() || window.compareTo(ReconciliationRequest.LONGEST) > 0) {
            throw new IllegalArgumentException(
                    "idempotency.reconciliation.window must be positive and at most %d days, but is %s"
                            .formatted(ReconciliationRequest.LONGEST.toDays(), window));
        }
    }

    /** When, or {@code null} for never. */
    @Nullable
    CronExpression expression() {
        return this.cron.equals(NEVER) ? null : CronExpression.parse(this.cron);
    }
}
