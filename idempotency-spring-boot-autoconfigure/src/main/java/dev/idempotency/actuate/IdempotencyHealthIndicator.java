package dev.idempotency.actuate;

import dev.idempotency.ConsumerWaitingException.Awaited;
import dev.idempotency.MessageId;
import dev.idempotency.actuate.ConsumerReports.CleanupReport;
import dev.idempotency.internal.database.Schema;
import dev.idempotency.internal.event.ConsumerOutages;
import dev.idempotency.internal.event.ConsumerOutages.ConsumerOutage;
import dev.idempotency.retention.Cleanup;
import dev.idempotency.store.ProcessedMessageStore;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.health.contributor.AbstractHealthIndicator;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.Status;

/**
 * Health of deduplication: whether the store answers and takes writes, and its schema is at the expected version. A
 * cleanup that fails or lags, and consumers that wait, make it {@link #DEGRADED}, which leaves the application's status
 * alone.
 */
public final class IdempotencyHealthIndicator extends AbstractHealthIndicator {

    /** Nothing is lost or applied twice, but the details need attention. */
    public static final Status DEGRADED = new Status("DEGRADED", "The cleanup does not keep up, or consumers wait");

    private static final Set<MessageId> NO_MESSAGE = Set.of(new MessageId("idempotency/health", "none"));

    private final ProcessedMessageStore store;
    private final @Nullable Schema schema;
    private final @Nullable Cleanup cleanup;
    private final ConsumerOutages outages;

    public IdempotencyHealthIndicator(
            ProcessedMessageStore store, @Nullable Schema schema, @Nullable Cleanup cleanup, ConsumerOutages outages) {
        super("The store of processed messages does not answer");
        this.store = store;
        this.schema = schema;
        this.cleanup = cleanup;
        this.outages = outages;
    }

    @Override
    protected void doHealthCheck(Health.Builder builder) {
        reportCleanup(builder);
        reportOutages(builder);
        // Statements of the store have a timeout.
        if (this.schema == null) {
            this.store.find(NO_MESSAGE);
            builder.withDetail("schema", "not ours").withDetail("store", "reachable");
            return;
        }
        List<String> missing = this.schema.missing();
        if (!missing.isEmpty()) {
            builder.down().withDetail("schema", "missing " + missing);
            return;
        }
        this.schema.tryOut();
        builder.withDetail("schema", "up to date").withDetail("store", "reachable");
    }

    private void reportOutages(Health.Builder builder) {
        this.outages.current().stream()
                .collect(Collectors.groupingBy(ConsumerOutage::awaited))
                .forEach((awaited, consumers) -> builder.status(DEGRADED).withDetail(detailOf(awaited), consumers));
    }

    private static String detailOf(Awaited awaited) {
        return switch (awaited) {
            case DATABASE -> "waitingForDatabase";
            case BROKER -> "waitingForBroker";
            case KEYS -> "waitingForKeys";
            case DEAD_LETTERS -> "waitingForDeadLetters";
        };
    }

    private void reportCleanup(Health.Builder builder) {
        CleanupReport report = CleanupReport.of(this.cleanup);
        boolean keepsUp = this.cleanup == null || this.cleanup.status().keepsUp();
        builder.status(keepsUp ? Status.UP : DEGRADED);
        if (report.failure() != null) {
            builder.withDetail("cleanupFailure", report.failure());
        }
        builder.withDetail("lastCleanup", (report.lastRun() != null) ? report.lastRun() : "none yet in this instance");
    }
}
