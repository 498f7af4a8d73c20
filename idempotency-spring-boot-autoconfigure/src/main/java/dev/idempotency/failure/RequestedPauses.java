package dev.idempotency.failure;

import java.time.Duration;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.jspecify.annotations.Nullable;
import org.springframework.kafka.listener.BackOffHandler;
import org.springframework.kafka.listener.ConsumerAwareRecordRecoverer;
import org.springframework.kafka.listener.MessageListenerContainer;

/** Pauses the consumer where Spring Kafka would have its thread sleep: when the failure that asked for it has been handled. */
final class RequestedPauses implements BackOffHandler {

    private final ConsumerPauses pauses;
    private final ThreadLocal<@Nullable Duration> requested = new ThreadLocal<>();

    RequestedPauses(ConsumerPauses pauses) {
        this.pauses = pauses;
    }

    @Override
    public void onNextBackOff(
            @Nullable MessageListenerContainer container, @Nullable Exception exception, long nextBackOff) {
        this.requested.set(Duration.ofMillis(nextBackOff));
    }

    /** Has a pause made also when a recoverer fails, as the record comes again. */
    ConsumerAwareRecordRecoverer pausingIfItFails(ConsumerAwareRecordRecoverer recoverer, Duration duration) {
        return (record, consumer, exception) -> {
            try {
                recoverer.accept(record, consumer, exception);
            } catch (RuntimeException ex) {
                this.requested.set(duration);
                throw ex;
            }
        };
    }

    /** Makes the pause that was asked for on this thread, if any. */
    void pauseAt(@Nullable ConsumerRecord<?, ?> record, MessageListenerContainer container) {
        Duration duration = this.requested.get();
        this.requested.remove();
        if (duration != null && record != null) {
            this.pauses.pause(container, Redelivery.partitionOf(record), duration);
        }
    }
}
