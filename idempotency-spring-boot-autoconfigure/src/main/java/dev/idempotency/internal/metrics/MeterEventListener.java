package dev.idempotency.internal.metrics;

import dev.idempotency.MessageId;
import dev.idempotency.event.CleanupRun;
import dev.idempotency.event.ConsumerDescription;
import dev.idempotency.event.IdempotencyEventListener;
import dev.idempotency.event.Reconciled;
import dev.idempotency.metrics.IdempotencyMeters;
import dev.idempotency.store.StoreStatistics;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.Meter.MeterProvider;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.TimeGauge;
import io.micrometer.core.instrument.Timer;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Registers and updates the Micrometer meters that are listed in {@link IdempotencyMeters}. */
public final class MeterEventListener implements IdempotencyEventListener, ConsumerCounts {

    private static final String COMPLETE = "complete";
    private static final String BEHIND = "behind";

    private final MeterRegistry registry;
    private final StoreWatch store;
    private final MeterProvider<Timer> cleanups;
    private final MeterProvider<Timer> reconciliations;
    private final MeterProvider<Counter> replays;
    private final MeterProvider<Counter> unrecorded;
    private final Counter deleted;
    private final Counter failedCleanups;
    private final Map<String, Long> missing = new ConcurrentHashMap<>();

    /** Measures a store; {@code slots} is how many its ring has, or none. */
    public MeterEventListener(MeterRegistry registry, StoreWatch store, int slots) {
        this.registry = registry;
        this.store = store;
        Gauge.builder(IdempotencyMeters.STORE_ROWS, () -> store.latest().rows())
                .description("Messages in the store, estimated")
                .register(registry);
        this.deleted = counters(IdempotencyMeters.CLEANUP_DELETED, "Messages that the cleanup forgot")
                .withTags();
        this.failedCleanups = counters(IdempotencyMeters.CLEANUP_FAILURES, "Runs of the cleanup that failed")
                .withTags();
        this.replays =
                counters(IdempotencyMeters.INBOX_REPLAYS, "Messages of the inbox that were sent to their topics again");
        this.unrecorded =
                counters(IdempotencyMeters.INBOX_UNRECORDED, "Failures that could not be recorded in the inbox");
        this.reconciliations = timers(IdempotencyMeters.RECONCILIATION, "Reconciliations");
        this.cleanups = timers(IdempotencyMeters.CLEANUP, "Runs of the cleanup");
        // Registered before there is anything to count.
        this.cleanups.withTag(IdempotencyMeters.RESULT, COMPLETE);
        this.cleanups.withTag(IdempotencyMeters.RESULT, BEHIND);
        for (int slot = 0; slot < slots; slot++) {
            int number = slot;
            Tags tags = Tags.of(IdempotencyMeters.SLOT, String.valueOf(number));
            age(IdempotencyMeters.SLOT_AGE, "Age of the first message in a slot", tags, () -> ageOf(number));
        }
    }

    private MeterProvider<Counter> counters(String name, String description) {
        return Counter.builder(name).description(description).withRegistry(this.registry);
    }

    private MeterProvider<Timer> timers(String name, String description) {
        return Timer.builder(name).description(description).withRegistry(this.registry);
    }

    private @Nullable Duration ageOf(int slot) {
        List<StoreStatistics.Slot> slots = this.store.latest().slots();
        return (slot < slots.size()) ? slots.get(slot).age() : null;
    }

    @Override
    public IdempotencyEventListener forConsumer(ConsumerDescription consumer) {
        String name = consumer.name();
        Tags tags = Tags.of(IdempotencyMeters.CONSUMER, name);
        if (consumer.strategy().isForgetful()) {
            age(IdempotencyMeters.RETENTION, "How long messages are remembered", tags, consumer::retention);
        }
        age(IdempotencyMeters.STORE_OLDEST_AGE, "Age of the oldest message that is remembered", tags, () -> this.store
                .latest()
                .oldestAges()
                .get(name));
        Gauge.builder(IdempotencyMeters.RECONCILIATION_MISSING, () -> this.missing.get(name))
                .description("Messages that the last reconciliation missed and did not send again")
                .tags(tags)
                .register(this.registry);
        this.reconciliations.withTags(tags.and(IdempotencyMeters.RESULT, "completed"));
        this.replays.withTags(tags);
        this.unrecorded.withTags(tags);
        return new ConsumerMeters(this.registry, consumer);
    }

    @Override
    public Map<String, Long> countsOf(String meter, String tag, String consumer) {
        return this.registry.find(meter).tag(IdempotencyMeters.CONSUMER, consumer).counters().stream()
                .collect(Collectors.toMap(
                        counter -> String.valueOf(counter.getId().getTag(tag)),
                        counter -> (long) counter.count(),
                        Long::sum));
    }

    @Override
    public void cleanupRan(CleanupRun run) {
        this.deleted.increment(run.deleted());
        if (run.failed()) {
            this.failedCleanups.increment();
        } else {
            this.cleanups
                    .withTag(IdempotencyMeters.RESULT, run.keepsUp() ? COMPLETE : BEHIND)
                    .record(run.took());
        }
    }

    @Override
    public void replayed(MessageId id) {
        this.replays.withTag(IdempotencyMeters.CONSUMER, id.consumer()).increment();
    }

    @Override
    public void unrecorded(String consumer, RuntimeException reason) {
        this.unrecorded.withTag(IdempotencyMeters.CONSUMER, consumer).increment();
    }

    @Override
    public void reconciled(Reconciled result) {
        this.reconciliations
                .withTags(IdempotencyMeters.CONSUMER, result.consumer(), IdempotencyMeters.RESULT, result.result())
                .record(result.took());
        if (result.isComplete() || result.missing() > 0) {
            this.missing.put(result.consumer(), result.missing());
        }
    }

    private void age(String name, String description, Tags tags, Supplier<@Nullable Duration> age) {
        TimeGauge.builder(name, () -> secondsOf(age.get()), TimeUnit.SECONDS)
                .description(description)
                .tags(tags)
                .register(this.registry);
    }

    private static @Nullable Double secondsOf(@Nullable Duration duration) {
        return (duration != null) ? duration.toMillis() / 1000.0 : null;
    }
}
