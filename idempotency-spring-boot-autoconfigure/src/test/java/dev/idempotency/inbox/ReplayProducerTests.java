package dev.idempotency.inbox;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.MessageId;
import dev.idempotency.RecordCoordinates;
import dev.idempotency.kafka.RawRecordProducers;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.ExecutionException;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.errors.RecordTooLargeException;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.internals.RecordHeader;
import org.junit.jupiter.api.Test;
import org.springframework.kafka.support.KafkaHeaders;

class ReplayProducerTests {

    private static List<Header> headersOfReplay(String... names) {
        InboxEntry entry = new InboxEntry(
                new MessageId("c", "1"),
                InboxStatus.FAILED,
                null,
                new RecordCoordinates("topic", 3, 7),
                1,
                0,
                null,
                Instant.EPOCH,
                null,
                Instant.EPOCH,
                null,
                null);
        List<Header> headers = Arrays.stream(names)
                .<Header>map(name -> new RecordHeader(name, new byte[] {1}))
                .toList();
        return ReplayProducer.headers(new InboxMessage(entry, null, headers, null));
    }

    @Test
    void theWayThroughRetryTopicsIsForgottenAndAllElseIsKept() {
        assertThat(headersOfReplay("a", "retry_topic-attempts", "b", "retry_topic-backoff-timestamp", "a"))
                .extracting(Header::key)
                .startsWith("a", "b", "a")
                .noneMatch(name -> name.startsWith("retry_topic"));
    }

    @Test
    void aReplayLeadsBackToItsRecordUnlessThatLedBackAlready() {
        ConsumerRecord<String, String> replay = new ConsumerRecord<>("topic", 3, 99, null, null);
        headersOfReplay("a").forEach(replay.headers()::add);
        assertThat(RecordCoordinates.original(replay)).isEqualTo(new RecordCoordinates("topic", 3, 7));
        assertThat(headersOfReplay(KafkaHeaders.ORIGINAL_TOPIC)).hasSize(1);
        assertThat(headersOfReplay(KafkaHeaders.DLT_ORIGINAL_TOPIC)).hasSize(1);
    }

    @Test
    void aRecordThatIsRefusedIsToldFromABrokerThatDoesNotAnswer() {
        assertThat(RawRecordProducers.isRefusal(new ExecutionException(new RecordTooLargeException())))
                .isTrue();
        assertThat(RawRecordProducers.isRefusal(new ExecutionException(new TimeoutException())))
                .isFalse();
        assertThat(RawRecordProducers.isRefusal(new IllegalStateException("no producer")))
                .isFalse();
    }
}
