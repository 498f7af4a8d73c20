package dev.idempotency.kafka;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.utils.Bytes;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class PayloadDigesterTests {

    private static @Nullable Long digest(@Nullable Object value) {
        return PayloadDigester.OF_VALUES.digest(new ConsumerRecord<>("topic", 0, 0, "key", value));
    }

    @Test
    void lengthAndChecksumAreInOneNumber() {
        // The check value of CRC-32C.
        assertThat(digest("123456789")).isEqualTo((9L << 32) | 0xE3069283L);
        assertThat(digest("")).isZero();
        assertThat(digest(null)).as("no value is not an empty one").isEqualTo(-1);
    }

    @Test
    void textAndBytesAreDigestedAlikeAndOtherTypesNotAtAll() {
        byte[] bytes = "Grüße 😀".getBytes(StandardCharsets.UTF_8);
        ByteBuffer buffer = ByteBuffer.wrap(bytes);
        assertThat(digest("Grüße 😀"))
                .isEqualTo(digest(bytes))
                .isEqualTo(digest(Bytes.wrap(bytes)))
                .isEqualTo(digest(buffer));
        assertThat(buffer.remaining()).isEqualTo(bytes.length);
        assertThat(digest(42)).isNull();
    }
}
