package dev.idempotency.internal.metrics;

import dev.idempotency.event.CleanupRun;
import dev.idempotency.event.ConsumerDescription;
import dev.idempotency.event.IdempotencyEventListener;
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
import java.util.concurrent.TimeUnit;
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

    public MeterEventListener(MeterRegistry registry, StoreWatch store) {
        this.registry = registry;
        this.store = store;
        Gauge.builder(IdempotencyMeters.STORE_ROWS, store, MeterEventListener::rows)
                .description("Messages in the store, estimated")
                .register(registry);
        this.completeCleanups = cleanups("complete");
        this.incompleteCleanups = cleanups("behind");
        this.deleted = counter(IdempotencyMeters.CLEANUP_DELETED, "Messages that the cleanup forgot");
        this.failedCleanups = counter(IdempotencyMeters.CLEANUP_FAILURES, "Runs of the cleanup that failed");
    }

    /** With the slots of a ring. */
    public MeterEventListener withSlots(int slots) {
        for (int slot = 0; slot < slots; slot++) {
            int number = slot;
            TimeGauge.builder(IdempotencyMeters.SLOT_AGE, this.store, TimeUnit.SECONDS, watch -> ageOf(number, watch))
                    .description("Age of the first message in a slot of the ring")
                    .tag(IdempotencyMeters.SLOT, String.valueOf(number))
                    .register(this.registry);
        }
        return this;
    }

    private static double ageOf(int number, StoreWatch watch) {
        List<StoreStatistics.Slot> slots = watch.latest().slots();
        return (number < slots.size()) ? seconds(slots.get(number).age()) : Double.NaN;
    }

    @Override
    public IdempotencyEventListener forConsumer(ConsumerDescription consumer) {
        String name = consumer.name();
        if (consumer.strategy().isForgetful()) {
            double retention = seconds(consumer.retention());
            TimeGauge.builder(IdempotencyMeters.RETENTION, () -> retention, TimeUnit.SECONDS)
                    .description("How long messages are remembered")
                    .tag(IdempotencyMeters.CONSUMER, name)
                    .register(this.registry);
        }
        TimeGauge.builder(
                        IdempotencyMeters.STORE_OLDEST_AGE,
                        this.store,
                        TimeUnit.SECONDS,
                        watch -> seconds(watch.latest().oldestAges().get(name)))
                .description("Age of the oldest message that is remembered")
                .tag(IdempotencyMeters.CONSUMER, name)
                .register(this.registry);
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

    private Timer cleanups(String result) {
        return Timer.builder(IdempotencyMeters.CLEANUP)
                .description("Runs of the cleanup")
                .tag(IdempotencyMeters.RESULT, result)
                .register(this.registry);
    }

    private Counter counter(String name, String description) {
        return Counter.builder(name).description(description).register(this.registry);
    }

    private static double rows(StoreWatch watch) {
        Long rows = watch.latest().rows();
        return (rows != null) ? rows : Double.NaN;
    }

    private static double seconds(@Nullable Duration duration) {
        return (duration != null) ? duration.toMillis() / 1000.0 : Double.NaN;
    }
}
