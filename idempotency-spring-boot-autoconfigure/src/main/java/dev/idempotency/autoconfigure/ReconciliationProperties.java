package dev.idempotency.autoconfigure;

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
 */
@ConfigurationProperties("idempotency.reconciliation")
public record ReconciliationProperties(
        @DefaultValue("5000") int recordsPerSecond,
        @DefaultValue("-") String cron) {

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
    }

    /** When, or {@code null} for never. */
    @Nullable
    CronExpression expression() {
        return this.cron.equals(NEVER) ? null : CronExpression.parse(this.cron);
    }
}
