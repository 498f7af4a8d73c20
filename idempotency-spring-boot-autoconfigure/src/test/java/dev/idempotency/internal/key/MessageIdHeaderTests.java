package dev.idempotency.internal.key;

import static dev.idempotency.app.Thrown.assertThrown;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.idempotency.IdempotentConsumer;
import dev.idempotency.MessageId;
import dev.idempotency.internal.database.EntityVersion;
import dev.idempotency.key.MessageIdHeader;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** An id that the application assigns to a record. */
class MessageIdHeaderTests {

    private static List<String> idsOf(ProducerRecord<?, ?> record) {
        return Arrays.stream(record.headers().toArray())
                .filter(header -> header.key().equals(MessageIdHeader.HEADER))
                .map(header -> new String(header.value(), StandardCharsets.UTF_8))
                .toList();
    }

    private final ProducerRecord<String, String> record = new ProducerRecord<>("orders", 1, 5L, "4711", "paid");

    @Test
    void aRecordIsStampedWithABusinessIdOnce() {
        assertThat(MessageIdHeader.stamp(this.record, "4711/PAID")).isSameAs(this.record);
        assertThat(MessageIdHeader.stamp(this.record, "4711/PAID")).isSameAs(this.record);
        assertThat(idsOf(this.record)).containsExactly("4711/PAID");
    }

    @Test
    void anotherIdIsRefusedRatherThanReplaced() {
        MessageIdHeader.stamp(this.record, "of the message received");
        assertThrown(
                IllegalStateException.class,
                () -> MessageIdHeader.stamp(this.record, "4711/PAID"),
                "orders",
                "'of the message received'",
                "'4711/PAID'",
                "leave out 'message-id'");
        assertThat(idsOf(this.record)).containsExactly("of the message received");
    }

    @Test
    void aBlankHeaderIsNoId() {
        this.record.headers().add(MessageIdHeader.HEADER, new byte[0]).add(MessageIdHeader.HEADER, null);
        assertThat(MessageIdHeader.stamp(this.record, "4711/PAID")
                        .headers()
                        .lastHeader(MessageIdHeader.HEADER)
                        .value())
                .asString()
                .isEqualTo("4711/PAID");
    }

    @Test
    void aRecordWhoseHeadersAreReadOnlyIsCopied() {
        this.record.headers().add("trace", new byte[] {1});
        ((RecordHeaders) this.record.headers()).setReadOnly();
        ProducerRecord<String, String> stamped = MessageIdHeader.stamp(this.record, "4711/PAID");
        assertThat(idsOf(stamped)).containsExactly("4711/PAID");
        assertThat(idsOf(this.record)).isEmpty();
        stamped.headers().remove(MessageIdHeader.HEADER);
        assertThat(stamped).isEqualTo(this.record);
    }

    static Stream<ThrowingCallable> refusalsOfLongValues() {
        String large = "x".repeat(1_000_000);
        ProducerRecord<String, String> stamped = MessageIdHeader.stamp(new ProducerRecord<>("orders", "paid"), large);
        return Stream.of(
                () -> new MessageId("billing", large),
                () -> new MessageId(large, "1"),
                () -> MessageId.of(large, null),
                () -> MessageIdHeader.stamp(stamped, large + "\0"),
                () -> MessageIdHeader.stamp(stamped, large + "y"),
                () -> new IdempotentConsumer(large, null, null),
                () -> EntityVersion.of(BigInteger.TEN.pow(100_000)));
    }

    @ParameterizedTest
    @MethodSource("refusalsOfLongValues")
    void longValuesAreAbbreviatedInMessages(ThrowingCallable refused) {
        assertThatThrownBy(refused).message().isNotEmpty().hasSizeLessThan(2_000);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", " ", "null", "a\0b", "\ud800"})
    void whatNobodyCouldTellTheMessageByIsRefused(String id) {
        assertThrown(IllegalArgumentException.class, () -> MessageIdHeader.stamp(this.record, id), "topic orders");
        assertThat(idsOf(this.record)).isEmpty();
    }
}
