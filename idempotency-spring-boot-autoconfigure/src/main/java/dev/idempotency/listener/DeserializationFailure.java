package dev.idempotency.listener;

import org.apache.commons.logging.LogFactory;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.jspecify.annotations.Nullable;
import org.springframework.core.log.LogAccessor;
import org.springframework.kafka.support.KafkaUtils;
import org.springframework.kafka.support.serializer.DeserializationException;
import org.springframework.kafka.support.serializer.SerializationUtils;

/**
 * Finds what an {@code ErrorHandlingDeserializer} could not read, and what the message converter of a batch could not
 * convert. A record listener's container does so itself; a batch listener would be called with {@code null}, as for a
 * tombstone.
 */
final class DeserializationFailure {

    private static final LogAccessor logger = new LogAccessor(LogFactory.getLog(DeserializationFailure.class));

    private DeserializationFailure() {}

    static @Nullable DeserializationException find(ConsumerRecord<?, ?> record) {
        DeserializationException ofValue = SerializationUtils.getExceptionFromHeader(
                record, KafkaUtils.VALUE_DESERIALIZER_EXCEPTION_HEADER, logger);
        if (ofValue != null || record.key() != null) {
            return ofValue;
        }
        return SerializationUtils.getExceptionFromHeader(record, KafkaUtils.KEY_DESERIALIZER_EXCEPTION_HEADER, logger);
    }
}
