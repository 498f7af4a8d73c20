package dev.idempotency.listener;

import dev.idempotency.kafka.RecordObservations;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.jspecify.annotations.Nullable;
import org.springframework.kafka.listener.RecordInterceptor;

/**
 * What a container puts around each record that it hands to a listener, and does not around those of a batch: an
 * observation, and the application's {@link RecordInterceptor}.
 *
 * @param interceptor the interceptor; {@code null} if there is none
 * @param observations the observations
 */
record RecordSurroundings<K, V>(@Nullable RecordInterceptor<K, V> interceptor, RecordObservations observations) {

    /** Whether there is anything around a record. */
    boolean areEmpty() {
        return this.interceptor == null && !this.observations.areOn();
    }

    @SuppressWarnings("unchecked") // The container's own consumer.
    RecordVisit<K, V> visit(ConsumerRecord<K, V> record, @Nullable Consumer<?, ?> consumer) {
        return new RecordVisit<>(
                record, (Consumer<K, V>) consumer, this.interceptor, this.observations.of(record, consumer));
    }
}
