package dev.idempotency.metrics;

import dev.idempotency.RecordCoordinates;
import dev.idempotency.observe.ConsumerDescription;
import dev.idempotency.observe.ConsumerObserver;
import dev.idempotency.observe.IdempotencyObserver;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import java.util.concurrent.atomic.AtomicInteger;

/** The meters of what fails, listed in {@link IdempotencyMeters}. */
public final class FailureMeters implements IdempotencyObserver {

    private final MeterRegistry registry;

    public FailureMeters(MeterRegistry registry) {
        this.registry = registry;
    }

    @Override
    public ConsumerObserver observe(ConsumerDescription consumer) {
        Tags tags = Tags.of(IdempotencyMeters.CONSUMER, consumer.name());
        Counter retries = Counter.builder(IdempotencyMeters.RETRIES)
                .description("Messages that came again because they had failed")
                .tags(tags)
                .register(this.registry);
        Counter deadLetters = Counter.builder(IdempotencyMeters.DEAD_LETTERS)
                .description("Messages published to a dead-letter topic")
                .tags(tags)
                .register(this.registry);
        AtomicInteger outage = new AtomicInteger();
        Gauge.builder(IdempotencyMeters.OUTAGE, outage, AtomicInteger::get)
                .description("1 while the consumer waits for the database")
                .tags(tags)
                .strongReference(true)
                .register(this.registry);
        return new ConsumerObserver() {

            @Override
            public void retried(int messages) {
                retries.increment(messages);
            }

            @Override
            public void deadLettered(RecordCoordinates coordinates) {
                deadLetters.increment();
            }

            @Override
            public void outageBegan(Throwable cause) {
                outage.set(1);
            }

            @Override
            public void outageEnded(long nanos) {
                outage.set(0);
            }
        };
    }
}
