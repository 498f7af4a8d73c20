package dev.idempotency.observe;

import dev.idempotency.RecordCoordinates;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Meters of what fails, each with the tag {@code consumer}.
 *
 * <ul>
 *   <li>{@code idempotency.retries}: messages that came again because they had failed
 *   <li>{@code idempotency.dead.letters}: messages published to a dead-letter topic
 *   <li>{@code idempotency.outage}: 1 while the consumer waits for the database, otherwise 0
 * </ul>
 */
public final class FailureMeters implements IdempotencyObserver {

    public static final String RETRIES = "idempotency.retries";

    public static final String DEAD_LETTERS = "idempotency.dead.letters";

    public static final String OUTAGE = "idempotency.outage";

    private static final String CONSUMER_TAG = "consumer";

    private final MeterRegistry registry;

    public FailureMeters(MeterRegistry registry) {
        this.registry = registry;
    }

    @Override
    public ConsumerObserver observe(ConsumerDescription consumer) {
        Tags tags = Tags.of(CONSUMER_TAG, consumer.name());
        Counter retries = Counter.builder(RETRIES)
                .description("Messages that came again because they had failed")
                .tags(tags)
                .register(this.registry);
        Counter deadLetters = Counter.builder(DEAD_LETTERS)
                .description("Messages published to a dead-letter topic")
                .tags(tags)
                .register(this.registry);
        AtomicInteger outage = new AtomicInteger();
        Gauge.builder(OUTAGE, outage, AtomicInteger::get)
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
