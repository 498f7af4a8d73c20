package dev.idempotency.observe;

import dev.idempotency.MessageId;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;

/** The meters of the inbox, listed in {@link IdempotencyMeters}. */
public final class InboxMeters implements InboxObserver {

    private final MeterRegistry registry;

    public InboxMeters(MeterRegistry registry) {
        this.registry = registry;
    }

    @Override
    public void replayed(MessageId id) {
        Counter.builder(IdempotencyMeters.INBOX_REPLAYS)
                .description("Messages that were sent to their topics again")
                .tag(IdempotencyMeters.CONSUMER, id.consumer())
                .register(this.registry)
                .increment();
    }

    @Override
    public void unrecorded(String consumer, RuntimeException reason) {
        Counter.builder(IdempotencyMeters.INBOX_UNRECORDED)
                .description("Failures that could not be recorded in the inbox")
                .tag(IdempotencyMeters.CONSUMER, consumer)
                .register(this.registry)
                .increment();
    }
}
