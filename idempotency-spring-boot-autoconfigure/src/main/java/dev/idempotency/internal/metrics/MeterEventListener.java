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
import io.micrometer.core.instrument.MeterRegistry;
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

    private final MeterRegistry registry;
    private final StoreWatch store;
    private final Timer completeCleanups;
    private final Timer incompleteCleanups;
    private final Counter deleted;
    private final Counter failedCleanups;
    private final Map<String, Double> missing = new ConcurrentHashMap<>();

    public MeterEventListener(MeterRegistry registry, StoreWatch store) {
        this.registry = registry;
        this.store = store;
        Gauge.builder(IdempotencyMeters.STORE_ROWS, store, MeterEventListener::rows)
                .description("Messages in the store, estimated")
                .register(registry);
        this.completeCleanups =
                timer(IdempotencyMeters.CLEANUP, "Runs of the cleanup", IdempotencyMeters.RESULT, "complete");
        this.incompleteCleanups =
                timer(IdempotencyMeters.CLEANUP, "Runs of the cleanup", IdempotencyMeters.RESULT, "behind");
        this.deleted = counter(IdempotencyMeters.CLEANUP_DELETED, "Messages that the cleanup forgot");
        this.failedCleanups = counter(IdempotencyMeters.CLEANUP_FAILURES, "Runs of the cleanup that failed");
    }

    /** With the slots of a ring. */
    public MeterEventListener withSlots(int slots) {
        for (int slot = 0; slot < slots; slot++) {
            int number = slot;
            age(
                    IdempotencyMeters.SLOT_AGE,
                    "Age of the first message in a slot of the ring",
                    () -> ageOfSlot(number),
                    IdempotencyMeters.SLOT,
                    String.valueOf(number));
        }
        return this;
    }

    private @Nullable Duration ageOfSlot(int number) {
        List<StoreStatistics.Slot> slots = this.store.latest().slots();
        return (number < slots.size()) ? slots.get(number).age() : null;
    }

    @Override
    public IdempotencyEventListener forConsumer(ConsumerDescription consumer) {
        String name = consumer.name();
        if (consumer.strategy().isForgetful()) {
            age(
                    IdempotencyMeters.RETENTION,
                    "How long messages are remembered",
                    consumer::retention,
                    IdempotencyMeters.CONSUMER,
                    name);
        }
        age(
                IdempotencyMeters.STORE_OLDEST_AGE,
                "Age of the oldest message that is remembered",
                () -> this.store.latest().oldestAges().get(name),
                IdempotencyMeters.CONSUMER,
                name);
        Gauge.builder(IdempotencyMeters.RECONCILIATION_MISSING, () -> this.missing.getOrDefault(name, Double.NaN))
                .description("Messages that the last reconciliation missed and did not send again")
                .tag(IdempotencyMeters.CONSUMER, name)
                .register(this.registry);
        // Registered before there is anything to count.
        reconciliations(name, "completed");
        replays(name);
        unrecorded(name);
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
            (run.keepsUp() ? this.completeCleanups : this.incompleteCleanups).record(run.took());
        }
    }

    @Override
    public void replayed(MessageId id) {
        replays(id.consumer()).increment();
    }

    @Override
    public void unrecorded(String consumer, RuntimeException reason) {
        unrecorded(consumer).increment();
    }

    @Override
    public void reconciled(Reconciled result) {
        reconciliations(result.consumer(), result.result()).record(result.took());
        if (result.isComplete() || result.missing() > 0) {
            this.missing.put(result.consumer(), (double) result.missing());
        }
    }

    private Timer reconciliations(String consumer, String result) {
        return timer(
                IdempotencyMeters.RECONCILIATION,
                "Reconciliations",
                IdempotencyMeters.CONSUMER,
                consumer,
                IdempotencyMeters.RESULT,
                result);
    }

    private Counter replays(String consumer) {
        return counter(
                IdempotencyMeters.INBOX_REPLAYS,
                "Messages of the inbox that were sent to their topics again",
                IdempotencyMeters.CONSUMER,
                consumer);
    }

    private Counter unrecorded(String consumer) {
        return counter(
                IdempotencyMeters.INBOX_UNRECORDED,
                "Failures that could not be recorded in the inbox",
                IdempotencyMeters.CONSUMER,
                consumer);
    }

    private Timer timer(String name, String description, String... tags) {
        return Timer.builder(name).description(description).tags(tags).register(this.registry);
    }

    private Counter counter(String name, String description, String... tags) {
        return Counter.builder(name).description(description).tags(tags).register(this.registry);
    }

    private void age(String name, String description, Supplier<@Nullable Duration> age, String tag, String value) {
        TimeGauge.builder(name, () -> seconds(age.get()), TimeUnit.SECONDS)
                .description(description)
                .tag(tag, value)
                .register(this.registry);
    }

    private static double rows(StoreWatch watch) {
        Long rows = watch.latest().rows();
        return (rows != null) ? rows : Double.NaN;
    }

    private static double seconds(@Nullable Duration duration) {
        return (duration != null) ? duration.toMillis() / 1000.0 : Double.NaN;
    }
}
