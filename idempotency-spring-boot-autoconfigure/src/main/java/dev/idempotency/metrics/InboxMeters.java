package dev.idempotency.metrics;

import dev.idempotency.MessageId;
import dev.idempotency.inbox.InboxObserver;
import dev.idempotency.observe.ConsumerDescription;
import dev.idempotency.observe.ConsumerObserver;
import dev.idempotency.observe.IdempotencyObserver;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;

/** The meters of the inbox, listed in {@link IdempotencyMeters}. */
public final class InboxMeters implements InboxObserver, IdempotencyObserver {

    private final MeterRegistry registry;

    public InboxMeters(MeterRegistry registry) {
        this.registry = registry;
    }

    /** Has the meters of a consumer there before there is anything to count. */
    @Override
    public ConsumerObserver observe(ConsumerDescription consumer) {
        replays(consumer.name());
        unrecorded(consumer.name());
        return ConsumerObserver.NO_OP;
    }

    @Override
    public void replayed(MessageId id) {
        replays(id.consumer()).increment();
    }

    @Override
    public void unrecorded(String consumer, RuntimeException reason) {
        unrecorded(consumer).increment();
    }

    private Counter replays(String consumer) {
        return Counter.builder(IdempotencyMeters.INBOX_REPLAYS)
                .description("Messages of the inbox that were sent to their topics again")
                .tag(IdempotencyMeters.CONSUMER, consumer)
                .register(this.registry);
    }

    private Counter unrecorded(String consumer) {
        return Counter.builder(IdempotencyMeters.INBOX_UNRECORDED)
                .description("Failures that could not be recorded in the inbox")
                .tag(IdempotencyMeters.CONSUMER, consumer)
                .register(this.registry);
    }
}
