package dev.idempotency.internal.producer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import dev.idempotency.IdempotencyContextHolder;
import dev.idempotency.MessageId;
import dev.idempotency.key.MessageIdHeader;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.stream.Stream;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.clients.producer.ProducerInterceptor;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.kafka.core.DefaultKafkaProducerFactory;
import org.springframework.kafka.support.KafkaHeaders;
import org.springframework.kafka.support.serializer.JacksonJsonSerializer;

/** Which records get an id, and which id they get. */
class MessageIdInterceptorTests {

    private static final MessageId INCOMING = MessageId.of(
            "billing", MessageIdInterceptor.mintAt(System.currentTimeMillis()).toString());

    private static ProducerRecord<Object, Object> record(@Nullable Object key, String... headers) {
        ProducerRecord<Object, Object> record = new ProducerRecord<>("orders", key, "value");
        for (String header : headers) {
            record.headers().add(header, "given".getBytes(StandardCharsets.UTF_8));
        }
        return record;
    }

    private MessageIdInterceptor<Object, Object> interceptor(
            @Nullable ProducerInterceptor<Object, Object> applications) {
        DefaultKafkaProducerFactory<Object, Object> factory = new DefaultKafkaProducerFactory<>(
                Map.of(ProducerConfig.KEY_SERIALIZER_CLASS_CONFIG, JacksonJsonSerializer.class),
                null,
                new JacksonJsonSerializer<>());
        return new MessageIdInterceptor<>(List.of("x-event-id"), topic -> factory, applications);
    }

    private ProducerRecord<Object, Object> send(ProducerRecord<Object, Object> record) {
        ProducerRecord<Object, Object> sent = interceptor(null).onSend(record);
        // Like a producer.
        ((RecordHeaders) sent.headers()).setReadOnly();
        return sent;
    }

    private String idOf(@Nullable Object key) {
        return idOf(send(record(key)));
    }

    private static String idOf(ProducerRecord<?, ?> record) {
        Header header = record.headers().lastHeader(MessageIdHeader.HEADER);
        return (header != null) ? new String(header.value(), StandardCharsets.UTF_8) : "none";
    }

    private List<String> idsInListener(List<? extends @Nullable MessageId> incoming, Object... keys) {
        return idsSent(incoming, Arrays.stream(keys).map(MessageIdInterceptorTests::record));
    }

    private List<String> idsSent(
            List<? extends @Nullable MessageId> incoming, Stream<ProducerRecord<Object, Object>> records) {
        IdempotencyContextHolder.Scope scope = IdempotencyContextHolder.open(incoming);
        List<String> ids = records.map(record -> idOf(send(record))).toList();
        scope.close();
        return ids;
    }

    @Test
    void idsThatAreMintedAreTimeOrdered() {
        UUID id = UUID.fromString(idOf("key"));
        assertThat(id.version()).isEqualTo(7);
        assertThat(id.variant()).isEqualTo(2);
        assertThat(id.getMostSignificantBits() >>> 16)
                .isBetween(System.currentTimeMillis() - 60_000, System.currentTimeMillis());
        assertThat(MessageIdInterceptor.mintAt(1).toString())
                .isLessThan(MessageIdInterceptor.mintAt(2).toString());
        assertThat(MessageIdInterceptor.mintAt(1)).isNotEqualTo(MessageIdInterceptor.mintAt(1));
    }

    @ParameterizedTest
    @ValueSource(strings = {"x-event-id", "idempotency-key", "message-id", "ce_id", "id"})
    void aRecordWithAnIdInAHeaderThatConsumersLookAtKeepsIt(String header) {
        ProducerRecord<Object, Object> record = record("key", header);
        assertThat(send(record)).isSameAs(record);
        assertThat(record.headers()).hasSize(1);
    }

    @ParameterizedTest
    @ValueSource(strings = {KafkaHeaders.ORIGINAL_TOPIC, KafkaHeaders.DLT_ORIGINAL_TOPIC})
    void aCopyInARetryOrDeadLetterTopicIsWhatItWas(String header) {
        assertThat(idOf(send(record("key", header)))).isEqualTo("none");
    }

    /** The first attempt did not have these headers. */
    @Test
    void whatAListenerSendsWithTheHeadersThatItsMessageGotInARetryTopicHasTheIdOfTheFirstAttempt() {
        String first = idsInListener(List.of(INCOMING), "key").get(0);
        assertThat(idsSent(List.of(INCOMING), Stream.of(record("key", KafkaHeaders.ORIGINAL_TOPIC))))
                .containsExactly(first);
    }

    @ParameterizedTest
    @CsvSource({"true", "false"})
    void aRecordThatIsSentAgainKeepsItsIdThoughAnInterceptorMakesAnotherOneOfIt(boolean withHeaders) {
        MessageIdInterceptor<Object, Object> copying = interceptor(new Interceptor() {

            @Override
            public ProducerRecord<Object, Object> onSend(ProducerRecord<Object, Object> record) {
                return new ProducerRecord<>(
                        record.topic(), null, record.key(), record.value(), withHeaders ? record.headers() : null);
            }
        });
        ProducerRecord<Object, Object> record = record("key");
        String id = idOf(copying.onSend(record));
        assertThat(idOf(copying.onSend(record))).isEqualTo(id).isEqualTo(idOf(record));
    }

    @Test
    void anInterceptorThatFailsFailsAsItDidAndIsToldAllElse() {
        List<String> calls = new ArrayList<>();
        MessageIdInterceptor<Object, Object> interceptor = interceptor(new Interceptor() {

            @Override
            public ProducerRecord<Object, Object> onSend(ProducerRecord<Object, Object> record) {
                throw new IllegalStateException("not today");
            }

            @Override
            public void onAcknowledgement(@Nullable RecordMetadata metadata, @Nullable Exception exception) {
                calls.add("acknowledged");
            }

            @Override
            public void close() {
                calls.add("closed");
            }
        });
        ProducerRecord<Object, Object> record = record("key");
        assertThatIllegalStateException()
                .isThrownBy(() -> interceptor.onSend(record))
                .withMessage("not today");
        assertThat(idOf(record)).isEqualTo("none");
        interceptor.onAcknowledgement(null, null);
        interceptor.onAcknowledgement(null, null, record.headers());
        interceptor.close();
        assertThat(calls).containsExactly("acknowledged", "acknowledged", "closed");
    }

    @Test
    void inAListenerTheIdsOfARepeatedAttemptAreTheSame() {
        List<String> ids = idsInListener(List.of(INCOMING), "a", "a", "b", 7, null, new byte[] {1}, new Paid(1));
        assertThat(ids).doesNotHaveDuplicates();
        assertThat(idsInListener(List.of(INCOMING), "a", "a", "b", 7, null, new byte[] {1}, new Paid(1)))
                .isEqualTo(ids);
        assertThat(idsInListener(List.of(INCOMING), null, new Paid(1), 7, "b", "a", new byte[] {1}, "a"))
                .as("in another order")
                .containsExactly(ids.get(4), ids.get(6), ids.get(3), ids.get(2), ids.get(0), ids.get(5), ids.get(1));
    }

    @Test
    void aRecordNeverHasTheIdOfAnotherThatAnEarlierAttemptSent() {
        List<String> ids = new ArrayList<>(idsOfValues("a", "a"));
        assertThat(idsOfValues("a")).containsExactly(ids.get(0));
        for (Object other : new @Nullable Object[] {"b", null, "", new Paid(1), new Shipped(1), new Paid(2)}) {
            ids.addAll(idsOfValues(other));
        }
        assertThat(ids).doesNotHaveDuplicates().hasSize(8);
    }

    record Paid(int order) {}

    record Shipped(int order) {}

    private List<String> idsOfValues(@Nullable Object... values) {
        return idsSent(
                List.of(INCOMING), Arrays.stream(values).map(value -> new ProducerRecord<>("orders", "key", value)));
    }

    @Test
    void idsOfOtherMessagesConsumersAndTopicsAreOthers() {
        List<String> ids = new ArrayList<>(idsInListener(List.of(INCOMING), "a", null, "no key", "", "1", "2"));
        ids.addAll(idsInListener(List.of(MessageId.of("billing", "other")), "a"));
        ids.addAll(idsInListener(List.of(MessageId.of("shipping", INCOMING.value())), "a"));
        ids.addAll(idsSent(List.of(INCOMING), Stream.of(new ProducerRecord<>("invoices", "a", "value"))));
        IdempotencyContextHolder.Scope scope = IdempotencyContextHolder.openForReply(INCOMING);
        ids.add(idOf("a"));
        scope.close();
        ids.addAll(idsInListener(List.of(INCOMING), "x", null, null).subList(2, 3));
        assertThat(ids).doesNotHaveDuplicates();
    }

    @Test
    void idsDerivedFromTimeOrderedOnesAreOfTheSameTime() {
        String first = idsInListener(List.of(INCOMING), "a").get(0);
        assertThat(first).startsWith(INCOMING.value().substring(0, 15));
        String second = idsInListener(List.of(MessageId.of("next", first)), "a").get(0);
        assertThat(second).startsWith(INCOMING.value().substring(0, 15)).isNotEqualTo(first);
        for (String other : List.of("4711", "0197ac34-xxxx-7xxx-xxxx-xxxxxxxxxxxx")) {
            String derived =
                    idsInListener(List.of(MessageId.of("billing", other)), "a").get(0);
            assertThat(UUID.fromString(derived).version()).isEqualTo(8);
        }
    }

    @Test
    void withinAnAttemptNoTwoRecordsHaveOneIdWhateverIsOpenedWithinIt() {
        List<String> ids = new ArrayList<>();
        IdempotencyContextHolder.Scope poll = IdempotencyContextHolder.open(List.of(INCOMING));
        for (int i = 0; i < 2; i++) {
            ids.add(idOf("a"));
            ids.addAll(idsInListener(List.of(INCOMING), "a"));
        }
        poll.close();
        assertThat(ids).doesNotHaveDuplicates().hasSize(4);
    }

    @Test
    void ofABatchOrAMessageWithoutAnIdNothingIsDerived() {
        List<MessageId> batch = List.of(INCOMING, MessageId.of("billing", "other"));
        assertThat(idsInListener(batch, "a")).doesNotContainAnyElementsOf(idsInListener(batch, "a"));
        List<@Nullable MessageId> without = Arrays.asList((MessageId) null);
        assertThat(idsInListener(without, "a")).doesNotContainAnyElementsOf(idsInListener(without, "a"));
    }

    abstract static class Interceptor implements ProducerInterceptor<Object, Object> {

        @Override
        public void configure(Map<String, ?> configs) {}

        @Override
        public void close() {}
    }
}
