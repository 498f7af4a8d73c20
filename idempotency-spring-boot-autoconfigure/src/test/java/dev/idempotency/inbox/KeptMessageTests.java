package dev.idempotency.inbox;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.MessageId;
import dev.idempotency.RecordCoordinates;
import dev.idempotency.kafka.ReceivedRecords;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.header.Headers;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.apache.kafka.common.record.TimestampType;
import org.junit.jupiter.api.Test;

class KeptMessageTests {

    private static final RecordCoordinates ELSEWHERE = new RecordCoordinates("elsewhere", 1, 2);

    private final ReceivedRecords received = new ReceivedRecords();

    private KeptMessage keep(Headers headers, Object value, RecordCoordinates original, boolean retries) {
        ConsumerRecord<String, Object> record = new ConsumerRecord<>(
                "topic", 3, 7, 0, TimestampType.CREATE_TIME, 0, 0, "key", value, headers, Optional.empty());
        return KeptMessage.of(new MessageId("c", "1"), original, record, this.received, 10, List.of("a", "b"), retries);
    }

    @Test
    void aRecordLeadsBackOnlyFromARetryTopicOrWithinItsOwn() {
        Headers headers = new RecordHeaders();
        assertThat(keep(headers, "v", ELSEWHERE, true).coordinates()).isEqualTo(ELSEWHERE);
        assertThat(keep(headers, "v", ELSEWHERE, false).coordinates()).isEqualTo(new RecordCoordinates("topic", 3, 7));
        RecordCoordinates replayed = new RecordCoordinates("topic", 3, 1);
        assertThat(keep(headers, "v", replayed, false).coordinates()).isEqualTo(replayed);
    }

    @Test
    void theTypeIsThatOfTheFirstHeaderPresentOrElseTheClass() {
        Headers headers = new RecordHeaders().add("b", "second\n".getBytes(StandardCharsets.UTF_8));
        assertThat(keep(headers, "v", ELSEWHERE, false).type()).isEqualTo("second?");
        headers.add("a", "x".repeat(300).getBytes(StandardCharsets.UTF_8));
        assertThat(keep(headers, "v", ELSEWHERE, false).type()).isEqualTo("x".repeat(255));
        assertThat(keep(new RecordHeaders(), "v", ELSEWHERE, false).type()).isEqualTo("java.lang.String");
    }

    @Test
    void theBytesOfARecordThatAnInterceptorReplacedAreUnknown() {
        Headers headers = new RecordHeaders();
        this.received.beginPoll();
        this.received.remember(headers, false, ByteBuffer.wrap(new byte[] {1}));
        assertThat(keep(headers, "changed", ELSEWHERE, false).payload()).containsExactly(1);
        KeptMessage unknown = keep(new RecordHeaders(), "changed", ELSEWHERE, false);
        assertThat(unknown.payloadSize()).isNull();
        assertThat(unknown.omitted()).isEqualTo(KeptMessage.UNKNOWN);
    }
}
