package dev.idempotency.internal.kafka;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.header.Headers;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.apache.kafka.common.record.TimestampType;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The bytes of records as received, and their digests. */
class ReceivedRecordsTests {

    private final ReceivedRecords received = new ReceivedRecords();

    @BeforeEach
    void beginPoll() {
        this.received.beginPoll();
    }

    private static ConsumerRecord<String, String> record(Headers headers, String key, String value) {
        return new ConsumerRecord<>(
                "topic", 0, 0, 0, TimestampType.CREATE_TIME, 0, 0, key, value, headers, Optional.empty());
    }

    private static ByteBuffer bytes(int... values) {
        ByteBuffer buffer = ByteBuffer.allocate(values.length);
        for (int value : values) {
            buffer.put((byte) value);
        }
        return buffer.flip();
    }

    @Test
    void aRecordIsKnownByItsHeadersThoughTheyChangeAndOthersAreEqual() {
        Headers headers = new RecordHeaders().add("type", new byte[] {1});
        this.received.remember(headers, true, bytes(1, 2));
        headers.remove("type");
        this.received.remember(headers, false, bytes(3));
        this.received.remember(new RecordHeaders(), false, bytes(4));
        ConsumerRecord<byte[], byte[]> found = this.received.find(record(headers, "k", "v"));
        assertThat(found).isNotNull();
        assertThat(found.key()).containsExactly(1, 2);
        assertThat(found.value()).containsExactly(3);
        assertThat(found.headers()).singleElement().satisfies(header -> assertThat(header.key())
                .isEqualTo("type"));
    }

    @Test
    void theBufferIsLeftAsItWas() {
        ByteBuffer value = bytes(1, 2, 3);
        value.get();
        Headers headers = new RecordHeaders();
        this.received.remember(headers, false, value);
        assertThat(value.position()).isOne();
        assertThat(this.received.find(record(headers, null, "v")).value()).containsExactly(2, 3);
    }

    @Test
    void aRecordWithoutKeyAndValueIsKnownThoughNobodyDeserializedIt() {
        assertThat(this.received.find(record(new RecordHeaders(), null, null)).value())
                .isNull();
        assertThat(this.received.find(record(new RecordHeaders(), null, "v"))).isNull();
    }

    @Test
    void aPayloadIsDigestedAsItWasReceived() {
        Headers headers = new RecordHeaders();
        this.received.remember(headers, false, bytes('v'));
        Headers tombstone = new RecordHeaders();
        this.received.remember(tombstone, true, bytes('k'));
        assertThat(this.received.digestOf(record(headers, null, "made of it")))
                .isEqualTo(ReceivedRecords.digest(ByteBuffer.wrap(new byte[] {'v'})));
        assertThat(this.received.digestOf(record(tombstone, "k", null))).isEqualTo(ReceivedRecords.NO_VALUE);
        assertThat(this.received.digestOf(record(new RecordHeaders(), null, null)))
                .isEqualTo(ReceivedRecords.NO_VALUE);
        assertThat(this.received.digestOf(record(new RecordHeaders(), "k", "put in its place")))
                .isNull();
    }

    @Test
    void recordsOfAnotherConsumerAreNotForgotten() throws Exception {
        Headers headers = new RecordHeaders();
        this.received.remember(headers, false, bytes(1));
        Thread other = new Thread(() -> {
            this.received.remember(new RecordHeaders(), false, bytes(2));
            this.received.beginPoll();
            this.received.close();
        });
        other.start();
        other.join();
        assertThat(this.received.find(record(headers, null, "v"))).isNotNull();
        assertThat(this.received.size()).isOne();
        this.received.beginPoll();
        assertThat(this.received.size()).isZero();
    }

    @Test
    void lengthAndChecksumAreInOneNumber() {
        // The check value of CRC-32C.
        ByteBuffer payload = ByteBuffer.wrap("123456789".getBytes(StandardCharsets.UTF_8));
        assertThat(ReceivedRecords.digest(payload)).isEqualTo((9L << 32) | 0xE3069283L);
        assertThat(payload.remaining()).isEqualTo(9);
        assertThat(ReceivedRecords.digest(ByteBuffer.allocate(0)))
                .as("no value is not an empty one")
                .isZero()
                .isNotEqualTo(ReceivedRecords.NO_VALUE);
    }
}
