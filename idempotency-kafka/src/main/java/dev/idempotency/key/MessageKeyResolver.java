package dev.idempotency.key;

import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.jspecify.annotations.Nullable;

/**
 * Finds the key of a message in its record.
 *
 * <p>Define a bean of this type to replace the look-up in headers, for all listeners that have no {@code key} expression.
 */
@FunctionalInterface
public interface MessageKeyResolver {

    /**
     * Finds the key, which must be the same for every delivery of the message.
     *
     * @return the key, or {@code null} if the message has none
     */
    @Nullable
    String resolveKey(ConsumerRecord<?, ?> record);
}
