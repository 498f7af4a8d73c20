package dev.idempotency.check;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.Check;
import dev.idempotency.definition.ProtectedListener;
import java.lang.reflect.Method;
import java.math.BigDecimal;
import java.time.DayOfWeek;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.kafka.listener.adapter.ConsumerRecordMetadata;
import org.springframework.kafka.support.Acknowledgment;
import org.springframework.kafka.support.KafkaHeaders;
import org.springframework.messaging.Message;
import org.springframework.messaging.MessageHeaders;
import org.springframework.messaging.handler.annotation.Header;
import org.springframework.messaging.handler.annotation.Headers;
import org.springframework.messaging.handler.annotation.Payload;
import org.springframework.transaction.interceptor.DefaultTransactionAttribute;

/** Which expressions give no key that is the same at every delivery, or none that tells messages apart. */
class KeyCheckTests {

    private static List<Check> findingsOfKey(String expression) {
        return findings("records", expression, null);
    }

    @ParameterizedTest
    @CsvSource({
        "#event.idd, true",
        "#payload.idd + '/' + #event.id, true",
        "#event.id, false",
        "#event.id(), false",
        "#event.toString(), false",
        "#headers['idd'], false",
        "#record.value().idd, false"
    })
    void propertiesThatAPayloadDoesNotHaveAreFound(String expression, boolean found) {
        assertThat(findings("typed", expression, null).contains(Check.KEY_EXPRESSION))
                .isEqualTo(found);
    }

    @Test
    void propertiesOfJsonTextAreFound() {
        assertThat(findings("text", "#payload.id", null)).containsExactly(Check.KEY_EXPRESSION);
        assertThat(findings("text", "#payload.substring(3)", null)).isEmpty();
        assertThat(findings("ofMap", "#payload.id", null)).isEmpty();
    }

    private static List<Check> findings(String method, @Nullable String key, @Nullable String version) {
        Method listener = Arrays.stream(Listeners.class.getDeclaredMethods())
                .filter(each -> each.getName().equals(method))
                .findFirst()
                .orElseThrow();
        List<Check> findings = new ArrayList<>();
        new KeyCheck()
                .check(
                        new ProtectedListener(
                                null,
                                new Listeners(),
                                listener,
                                null,
                                null,
                                new DefaultTransactionAttribute(),
                                key,
                                version,
                                null,
                                List.of()),
                        (check, what, remedy) -> findings.add(check));
        return findings;
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "T(java.util.concurrent.ThreadLocalRandom).current().nextLong()",
                "new java.util.Random().nextInt() + #payload",
                "new java.security.SecureRandom().nextInt() + #payload",
                "@ids.generateId() + #payload",
                "T(Thread).currentThread().name + #payload",
                "T(java.util.Objects).hash(#payload)",
                "T(org.springframework.util.ObjectUtils).identityToString(#payload)",
                "new java.util.Date().time + #payload",
                "#record",
                "#record.toString()",
                "'x/' + #record",
                "#payload ?: #record",
                "#payload == null ? #record : #payload",
                "T(String).valueOf(#record)",
                "{#record, 1}.toString()",
                "#same + '/' + #payload",
                "#record.headers()",
                "#headers",
                "#headers.toString()",
                "#message",
                "#message.toString()",
                "#message.headers",
                "#all",
                "#some + '/x'",
                "#about",
                "#acknowledgment",
                "#consumer.toString()",
                "#consumer.groupMetadata().memberId()",
                "#message.headers[id]",
                "#message.headers[\"id\"]",
                "#message.getHeaders().get('id', T(java.util.UUID))",
                "#message?.headers?.timestamp",
                "#message . headers [ 'id' ]",
                "#all[\"timestamp\"]",
                "#some.id",
                "#id",
            })
    void aKeyThatIsAnotherOneAtEveryDeliveryIsFound(String expression) {
        assertThat(findingsOfKey(expression)).contains(Check.UNSTABLE_KEY);
        assertThat(findings("records", null, expression)).contains(Check.UNSTABLE_KEY);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "'order#1'",
                "'a@b'",
                "T(java.time.DayOfWeek).MONDAY",
                "#record.offset()",
                "#coordinates.offset()",
                "#same.offset() + '/' + #record.topic()",
                "#about.offset()",
                "#offset",
                "#payload + #record.offset()",
                "#record.timestamp()",
                "#record.topic() + '/' + #record.timestamp",
                "#record.partition()",
                "#coordinates.topic()",
                "#at",
                "#at + '/' + #record.topic()",
            })
    void aKeyThatMessagesShareIsFound(String expression) {
        assertThat(findingsOfKey(expression)).containsExactly(Check.AMBIGUOUS_KEY);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "#payload",
                "#record.key()",
                "#record.value().id + '/' + #record.topic()",
                "#record.key() + '/' + #record.timestamp()",
                "#record.topic() + '-' + #record.partition() + '@' + #record.offset()",
                "#coordinates",
                "'x/' + #coordinates",
                "#offset + '/' + #record.partition()",
                "@keys.keyOf(#record)",
                "@keys.keyOf(#headers) + '/x'",
                "@keys.current()",
                "T(com.acme.Keys).of(#record)",
                "#record.headers().lastHeader('id').value()",
                "#headers['id']",
                "#headers.id",
                "#headers['id'] + #message.headers['order-id'] + #message.payload",
                "#headers.isEmpty() ? #payload : #headers['a']",
                "#headers == null ? #payload : #payload.trim()",
                "#jsonPath(#record.value(), '$.id')",
                "new java.util.Date(#payload.length()).toInstant()",
                "#all['order']",
                "(#all['kafka_offset'] == 2 ? 0 : #offset) + '/' + #payload",
            })
    void aKeyOfTheMessageIsTaken(String expression) {
        assertThat(findingsOfKey(expression)).isEmpty();
    }

    @ParameterizedTest
    @CsvSource({
        "#order, true",
        "#parts, true",
        "#map, true",
        "#chars, true",
        "#order.id, false",
        "#order + '/x', false",
        "#bytes, false",
        "#number, false",
        "#maybe, false",
        "#open, false",
        "#day, false"
    })
    void aKeyWhoseTypeIsNeverOneIsFound(String expression, boolean found) {
        assertThat(findings("types", expression, null)).isEqualTo(found ? List.of(Check.KEY_EXPRESSION) : List.of());
    }

    @ParameterizedTest
    @CsvSource({
        "state, #payload.changedAt, true",
        "state, #payload.changedAt(), true",
        "state, #state?.changedAt, true",
        "state, #state.previous.day, true",
        "state, #payload.amount, true",
        "state, #payload.share, true",
        "states, #payload.changedAt, true",
        "state, #payload.number, false",
        "state, #payload.time, false",
        "state, #payload.text, false",
        "state, #payload.maybe, false",
        "state, #payload.any, false",
        "state, #payload.map.changedAt, false",
        "state, #payload.unknown, true",
        "state, #payload.changedAt.toString(), false",
        "state, #payload.changedAt.toInstant(T(java.time.ZoneOffset).UTC), false",
        "recordOfState, #payload.changedAt, false"
    })
    void aVersionWhoseTypeIsNeverOneIsFound(String method, String expression, boolean found) {
        assertThat(findings(method, "#record.key()", expression))
                .isEqualTo(found ? List.of(Check.KEY_EXPRESSION) : List.of());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "#record.timestamp()",
                "#same . timestamp()",
                "#about.offset()",
                "#at",
                "#message.headers['kafka_offset']",
                "7"
            })
    void aVersionThatIsNotOfTheStateIsFound(String expression) {
        assertThat(findings("records", "#record.key()", expression)).containsExactly(Check.AMBIGUOUS_KEY);
    }

    /** Each message of a batch has its element behind the variable. */
    @ParameterizedTest
    @ValueSource(strings = {"#messages.headers.id", "#messages", "#records + ''", "#records"})
    void ofABatchTheElementsCount(String expression) {
        assertThat(findings("batches", expression, null)).containsExactly(Check.UNSTABLE_KEY);
    }

    /** The variable of that name is the record's headers, not the argument. */
    @ParameterizedTest
    @ValueSource(strings = {"#headers.id", "#headers['id']", "#payload.headers.id"})
    void anArgumentThatIsNotBehindItsNameDoesNotCount(String expression) {
        assertThat(findings("hidden", expression, null)).isEmpty();
    }

    @SuppressWarnings("unused") // Their signatures are looked at.
    @Test
    void aPayloadThatMayBeAnyOfSeveralParametersTellsNoMessagesApart() {
        assertThat(findings("twoPayloads", "#payload.id", null)).containsExactly(Check.AMBIGUOUS_KEY);
        assertThat(findings("twoPayloads", "#order.id", "#payload.version")).containsExactly(Check.AMBIGUOUS_KEY);
        assertThat(findings("twoPayloads", "#order.id", null)).isEmpty();
        assertThat(findings("namedPayload", "#payload.id", null)).isEmpty();
        assertThat(findings("payloadFirst", "#payload", null)).isEmpty();
        assertThat(findings("payloadAndRecord", "#payload.id", null)).isEmpty();
    }

    private static final class Listeners {

        record Event(String id) {}

        void typed(Event event) {}

        void text(String text) {}

        void ofMap(Map<String, Object> map) {}

        void twoPayloads(DayOfWeek ofCall, Order order, Acknowledgment acknowledgment) {}

        void namedPayload(DayOfWeek ofCall, @Payload Order order) {}

        void payloadFirst(String payload, DayOfWeek ofCall) {}

        void payloadAndRecord(ConsumerRecord<String, Order> same, MessageHeaders all, @Header UUID id, Order order) {}

        void records(
                String order,
                ConsumerRecord<String, String> same,
                ConsumerRecordMetadata about,
                Message<String> message,
                MessageHeaders all,
                @Headers Map<String, Object> some,
                @Header UUID id,
                @Header(KafkaHeaders.OFFSET) long offset,
                @Header(KafkaHeaders.RECEIVED_TIMESTAMP) long at,
                Acknowledgment acknowledgment,
                Consumer<?, ?> consumer) {}

        void types(
                Order order,
                Optional<String> maybe,
                List<String[]> parts,
                Map<String, String> map,
                List<char[]> chars,
                List<byte[]> bytes,
                long number,
                Comparable<?> open,
                DayOfWeek day) {}

        record Order(String id) {}

        record State(
                LocalDateTime changedAt,
                LocalDate day,
                BigDecimal amount,
                double share,
                Long number,
                OffsetDateTime time,
                String text,
                Optional<LocalDateTime> maybe,
                Object any,
                Map<String, Object> map) {

            public State getPrevious() {
                return this;
            }
        }

        void state(State state) {}

        void states(List<State> states) {}

        void recordOfState(ConsumerRecord<String, State> same, State state) {}

        void batches(List<Message<String>> messages, List<ConsumerRecord<String, String>> records) {}

        void hidden(Message<String> payload, MessageHeaders headers) {}
    }
}
