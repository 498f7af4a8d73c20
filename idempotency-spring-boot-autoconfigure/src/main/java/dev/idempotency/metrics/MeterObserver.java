package dev.idempotency.metrics;

import dev.idempotency.observe.ConsumerDescription;
import dev.idempotency.observe.ConsumerObserver;
import dev.idempotency.observe.IdempotencyObserver;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.TimeGauge;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Gives every consumer its Micrometer meters, listed in {@link IdempotencyMeters}. */
public final class MeterObserver implements IdempotencyObserver, ConsumerCounts {

    private final MeterRegistry registry;
    private final StoreWatch store;

    public MeterObserver(MeterRegistry registry, StoreWatch store) {
        this.registry = registry;
        this.store = store;
        Gauge.builder(IdempotencyMeters.STORE_ROWS, store, MeterObserver::rows)
                .description("Messages in the store, estimated")
                .register(registry);
    }

    @Override
    public ConsumerObserver observe(ConsumerDescription consumer) {
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

    private static double rows(StoreWatch watch) {
        Long rows = watch.latest().rows();
        return (rows != null) ? rows : Double.NaN;
    }

    private static double seconds(@Nullable Duration duration) {
        return (duration != null) ? duration.toMillis() / 1000.0 : Double.NaN;
    }
}
