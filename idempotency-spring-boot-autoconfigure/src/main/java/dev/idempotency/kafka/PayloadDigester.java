package dev.idempotency.kafka;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.utils.Bytes;
import org.jspecify.annotations.Nullable;

/** Says what the payload of a record is known by. */
@FunctionalInterface
public interface PayloadDigester {

    /** Looks at nothing. */
    PayloadDigester NONE = record -> null;

    /** Knows what deserializers have made of the value: text and bytes say what was received, other types do not. */
    PayloadDigester OF_VALUES = record -> {
        Object value = record.value();
        if (value == null) {
            return PayloadDigest.OF_NO_VALUE;
        } else if (value instanceof String text) {
            return PayloadDigest.of(text.getBytes(StandardCharsets.UTF_8));
        } else if (value instanceof byte[] bytes) {
            return PayloadDigest.of(bytes);
        } else if (value instanceof Bytes bytes) {
            return PayloadDigest.of(bytes.get());
        }
        return (value instanceof ByteBuffer buffer) ? (Long) PayloadDigest.of(buffer) : null;
    };

    /** The digest of its payload, or {@code null} if it is not known what was received. */
    @Nullable
    Long digest(ConsumerRecord<?, ?> record);
}
