package dev.idempotency.actuate;

import dev.idempotency.MessageId;
import dev.idempotency.failure.ConsumerOutage;
import dev.idempotency.failure.Outages;
import dev.idempotency.observe.LastCleanup;
import dev.idempotency.store.ProcessedMessageStore;
import dev.idempotency.store.Schema;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.health.contributor.AbstractHealthIndicator;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.Status;

/**
 * Health of deduplication: whether the store answers, its schema is at the expected version, and the cleanup keeps up.
 *
 * <p>A cleanup that fails or lags, and consumers that wait for a database that answers by now, make it
 * {@code DEGRADED}, which leaves the application's status alone.
 */
public final class IdempotencyHealthIndicator extends AbstractHealthIndicator {

    /** Nothing is lost or applied twice, but somebody should have a look at the details. */
    public static final Status DEGRADED = new Status("DEGRADED", "The cleanup does not keep up, or consumers wait");

    private static final Set<MessageId> NO_MESSAGE = Set.of(new MessageId("idempotency/health", "none"));

    private final ProcessedMessageStore store;
    private final @Nullable Schema schema;
    private final LastCleanup cleanup;
    private final Outages outages;

    public IdempotencyHealthIndicator(
            ProcessedMessageStore store, @Nullable Schema schema, LastCleanup cleanup, Outages outages) {
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
        List<String> missing = (this.schema != null) ? this.schema.missing() : List.of();
        if (!missing.isEmpty()) {
            builder.down().withDetail("schema", "missing " + missing);
            return;
        }
        builder.withDetail("schema", (this.schema != null) ? "up to date" : "not ours");
        this.store.find(NO_MESSAGE);
        builder.withDetail("store", "reachable");
    }

    private void reportOutages(Health.Builder builder) {
        Map<Boolean, List<ConsumerOutage>> waiting =
                this.outages.current().stream().collect(Collectors.groupingBy(ConsumerOutage::forKeys));
        waiting.forEach((forKeys, consumers) ->
                builder.status(DEGRADED).withDetail(forKeys ? "waitingForKeys" : "waitingForDatabase", consumers));
    }

    private void reportCleanup(Health.Builder builder) {
        LastCleanup.Run run = this.cleanup.run();
        LastCleanup.Failure failure = this.cleanup.failure();
        boolean keepsUp = failure == null && (run == null || run.keepsUp());
        builder.status(keepsUp ? Status.UP : DEGRADED);
        if (run != null) {
            builder.withDetail("lastCleanup", run);
        }
        if (failure != null) {
            builder.withDetail("cleanupFailure", failure);
        }
        if (run == null && failure == null) {
            builder.withDetail("lastCleanup", "none yet in this instance");
        }
    }
}
