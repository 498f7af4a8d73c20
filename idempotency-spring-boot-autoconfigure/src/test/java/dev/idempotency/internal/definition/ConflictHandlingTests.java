package dev.idempotency.internal.definition;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.MessageConflictException;
import dev.idempotency.MessageId;
import dev.idempotency.OnConflict;
import dev.idempotency.RecordCoordinates;
import dev.idempotency.event.Conflict;
import dev.idempotency.event.IdempotencyEventListener;
import dev.idempotency.internal.failure.WarningInterval;
import dev.idempotency.internal.kafka.KafkaCoordinates;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.kafka.support.KafkaHeaders;

@ExtendWith(OutputCaptureExtension.class)
class ConflictHandlingTests {

    private final AtomicLong clock = new AtomicLong(Long.MAX_VALUE - 1);
    private final ConflictHandling handling = new ConflictHandling(
            OnConflict.WARN,
            record -> 42L,
            IdempotencyEventListener.NO_OP,
            new WarningInterval(this.clock::get, Duration.ofMinutes(1)));

    private static Conflict conflict(long offset) {
        return new Conflict(
                new MessageId("billing", "id\n1"),
                new RecordCoordinates("orders", 0, offset),
                new RecordCoordinates("orders", 0, 3),
                null);
    }

    private @Nullable Long digest(ConsumerRecord<?, ?> record) {
        return this.handling.digest(record, KafkaCoordinates.original(record));
    }

    private static ConsumerRecord<String, String> copyOf(long offset) {
        ConsumerRecord<String, String> copy = new ConsumerRecord<>("orders", 0, 17, null, "payload");
        copy.headers()
                .add(KafkaHeaders.DLT_ORIGINAL_TOPIC, "orders".getBytes(StandardCharsets.UTF_8))
                .add(KafkaHeaders.DLT_ORIGINAL_PARTITION, new byte[4])
                .add(
                        KafkaHeaders.DLT_ORIGINAL_OFFSET,
                        ByteBuffer.allocate(8).putLong(offset).array());
        return copy;
    }

    @Test
    void aCopyOfARecordMayHaveBeenSerializedAnewAndIsNotCompared() {
        assertThat(digest(new ConsumerRecord<>("orders", 0, 17, null, "payload")))
                .isNotNull();
        assertThat(digest(copyOf(3))).isNull();
    }

    @ParameterizedTest
    @ValueSource(strings = {KafkaHeaders.DLT_EXCEPTION_FQCN, KafkaHeaders.DLT_EXCEPTION_CAUSE_FQCN})
    void whatComesBackAfterItWasRefusedForItsIdIsCompared(String header) {
        ConsumerRecord<String, String> refused = copyOf(3);
        refused.headers().add(header, MessageConflictException.class.getName().getBytes(StandardCharsets.UTF_8));
        assertThat(digest(refused)).isNotNull();
    }

    @Test
    void aConsumerIsWarnedOfOnceAMinute(CapturedOutput output) {
        this.handling.dropped(conflict(4));
        this.handling.dropped(conflict(5));
        this.clock.addAndGet(Duration.ofSeconds(59).toNanos());
        this.handling.dropped(conflict(6));
        assertThat(output)
                .contains("Consumer 'billing' dropped orders-0@4 as a duplicate of orders-0@3")
                .contains("'id?1'")
                .doesNotContain("orders-0@5", "orders-0@6");
        this.clock.addAndGet(Duration.ofSeconds(1).toNanos());
        this.handling.dropped(conflict(7));
        assertThat(output).contains("orders-0@7");
    }
}
