package dev.idempotency.sample.page;

import dev.idempotency.MessageId;
import dev.idempotency.RecordCoordinates;
import dev.idempotency.event.ConsumerDescription;
import dev.idempotency.event.Duplicate;
import dev.idempotency.event.IdempotencyEventListener;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.function.LongFunction;
import org.jspecify.annotations.Nullable;
import org.springframework.stereotype.Component;

/** The latest deliveries of all consumers, collected as an {@link IdempotencyEventListener} bean. */
@Component
class DeliveryFeed implements IdempotencyEventListener {

    private static final int KEPT = 100;

    private final Deque<Delivery> latest = new ArrayDeque<>();
    private long count;

    @Override
    public IdempotencyEventListener forConsumer(ConsumerDescription consumer) {
        return new IdempotencyEventListener() {

            @Override
            public void processed(MessageId id, RecordCoordinates coordinates) {
                add(number -> Delivery.processed(number, id, coordinates));
            }

            @Override
            public void duplicate(Duplicate duplicate) {
                add(number -> Delivery.duplicate(number, duplicate));
            }

            @Override
            public void failed(RecordCoordinates coordinates, @Nullable Throwable failure) {
                add(number -> Delivery.failed(number, consumer.name(), coordinates));
            }

            @Override
            public void deadLettered(RecordCoordinates coordinates) {
                add(number -> Delivery.deadLettered(number, consumer.name(), coordinates));
            }
        };
    }

    private synchronized void add(LongFunction<Delivery> numbered) {
        this.latest.addLast(numbered.apply(++this.count));
        if (this.latest.size() > KEPT) {
            this.latest.removeFirst();
        }
    }

    /** Returns the deliveries with a higher number that are still kept, oldest first. */
    synchronized List<Delivery> after(long number) {
        return this.latest.stream()
                .filter(delivery -> delivery.number() > number)
                .toList();
    }
}
