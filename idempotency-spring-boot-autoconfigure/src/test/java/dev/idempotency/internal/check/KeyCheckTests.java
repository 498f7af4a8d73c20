package dev.idempotency.internal.check;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.StartupCheck;
import dev.idempotency.internal.definition.ProtectedListener;
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
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.jspecify.annotations.Nullable;
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

    private static List<StartupCheck> findings(String method, @Nullable String key, @Nullable String version) {
        Method listener = Arrays.stream(Listeners.class.getDeclaredMethods())
                .filter(each -> each.getName().equals(method))
                .findFirst()
                .orElseThrow();
        List<StartupCheck> findings = new ArrayList<>();
        ProtectedListener candidate = new ProtectedListener(
                null,
                null,
                new Listeners(),
                listener,
                null,
                null,
                new DefaultTransactionAttribute(),
                key,
                version,
                null,
                null,
                List.of(),
                null);
        KeyCheck.check(candidate, (check, what, remedy) -> findings.add(check));
        return findings;
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "T(java.util.concurrent.ThreadLocalRandom).current().nextLong()",
                "new java.security.SecureRandom().nextInt() + #payload",
                "T(Thread).currentThread().name + #payload",
                "T(java.util.Objects).hash(#payload)",
                "new java.util.Date().time + #payload",
                "#headers['kafka_deliveryAttempt']",
                "#record",
                "#record.toString()",
                "'x/' + #record",
                "#payload ?: #record",
                "#payload == null ? #record : #payload",
                "{#record, 1}.toString()",
                "#same + '/' + #payload",
                "#record.headers()",
                "#headers",
                "#message",
                "#message.headers",
                "#all",
                "#some + '/x'",
                "#about",
                "#message.headers[id]",
                "#message.headers[\"id\"]",
                "#message.getHeaders().get('id', T(java.util.UUID))",
                "#message?.headers?.timestamp",
                "#all[\"timestamp\"]",
                "#some.id",
                "#id",
                "#message.getHeaders().getId()",
                "#all.getTimestamp()",
                "#attempt + '/' + #payload",
            })
    void aKeyThatIsAnotherOneAtEveryDeliveryIsFound(String expression) {
        assertThat(findings("records", expression, null)).containsExactly(StartupCheck.UNSTABLE_KEY);
        assertThat(findings("records", null, expression)).containsExactly(StartupCheck.UNSTABLE_KEY);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "'order#1'",
                "T(java.time.DayOfWeek).MONDAY",
                "#record.offset()",
                "#same.offset() + '/' + #record.topic()",
                "#about.offset()",
                "#payload + #record.offset()",
                "#record.topic() + '/' + #record.timestamp",
                "#coordinates.topic()",
                "#offset",
                "#at + '/' + #record.topic()",
            })
    void aKeyThatMessagesShareIsFound(String expression) {
        assertThat(findings("records", expression, null)).containsExactly(StartupCheck.AMBIGUOUS_KEY);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "#payload",
                "#record.key()",
                "#record.value().id + '/' + #record.topic()",
                "#record.key() + '/' + #record.timestamp()",
                "#record.topic() + '-' + #record.partition() + '@' + #record.offset()",
                "'x/' + #coordinates",
                "#offset + '/' + #record.partition()",
                "@keys.keyOf(#record)",
                "@keys.current()",
                "T(com.acme.Keys).of(#record)",
                "#record.headers().lastHeader('id').value()",
                "#headers.id",
                "#headers['id'] + #message.headers['order-id'] + #message.payload",
                "#headers.isEmpty() ? #payload : #headers['a']",
                "#headers == null ? #payload : #payload.trim()",
                "#jsonPath(#record.value(), '$.id')",
                "#all['order']",
            })
    void aKeyOfTheMessageIsTaken(String expression) {
        assertThat(findings("records", expression, null)).isEmpty();
    }

    @ParameterizedTest
    @CsvSource({
        "typed, #event.idd, KEY_EXPRESSION",
        "typed, #payload.idd + '/' + #event.id, KEY_EXPRESSION",
        "typed, #event, KEY_EXPRESSION",
        "typed, #payload, KEY_EXPRESSION",
        "typed, #event.id, ",
        "typed, #event.id(), ",
        "typed, #event.toString(), ",
        "typed, #event + '/x', ",
        "typed, #record.value().idd, ",
        "text, #payload.id, KEY_EXPRESSION",
        "text, #payload.substring(3), ",
        "ofMap, #payload.id, ",
        "ofMap, #map, KEY_EXPRESSION",
        "ofMap, #number, ",
        "batches, #messages.headers.id, UNSTABLE_KEY",
        "batches, #records, UNSTABLE_KEY",
        "hidden, #headers.id, ",
        "hidden, #payload.headers.id, ",
        "twoPayloads, #payload.id, AMBIGUOUS_KEY",
        "twoPayloads, #event.id, ",
        "namedPayload, #payload.id, ",
        "payloadFirst, #payload, ",
        "usualName, #payload.idd, KEY_EXPRESSION",
        "payloadAndRecord, #payload.id, "
    })
    void whatIsFoundDependsOnTheParameters(String method, String expression, @Nullable StartupCheck found) {
        assertThat(findings(method, expression, null)).isEqualTo((found != null) ? List.of(found) : List.of());
    }

    @ParameterizedTest
    @ValueSource(strings = {"#record.timestamp()", "#about.offset()", "#at", "#message.headers['kafka_offset']", "7"})
    void aVersionThatIsNotOfTheStateIsFound(String expression) {
        assertThat(findings("records", "#record.key()", expression)).containsExactly(StartupCheck.AMBIGUOUS_KEY);
    }

    @ParameterizedTest
    @CsvSource({
        "state, #payload.changedAt, true",
        "state, #payload.changedAt(), true",
        "state, #state?.previous.day, true",
        "state, #payload.amount, true",
        "state, #payload.share, true",
        "states, #payload.changedAt, true",
        "state, #payload.number, false",
        "state, #payload.time, false",
        "state, #payload.text, false",
        "state, #payload.maybe, false",
        "state, #payload.any, false",
        "state, #payload.map.empty, false",
        "state, #payload.changedAt.toString(), false",
        "state, #payload.changedAt.toInstant(T(java.time.ZoneOffset).UTC), false"
    })
    void aVersionWhoseTypeIsNeverOneIsFound(String method, String expression, boolean found) {
        assertThat(findings(method, "#record.key()", expression))
                .isEqualTo(found ? List.of(StartupCheck.KEY_EXPRESSION) : List.of());
    }

    @SuppressWarnings("unused") // Their signatures are looked at.
    private static final class Listeners {

        record Event(String id) {}

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

        void typed(Event event) {}

        void text(String text) {}

        void ofMap(Map<String, Object> map, @Header long number) {}

        void twoPayloads(DayOfWeek ofCall, Event event, Acknowledgment acknowledgment) {}

        void namedPayload(DayOfWeek ofCall, @Payload Event event) {}

        void usualName(Event payload) {}

        void payloadFirst(String payload, DayOfWeek ofCall) {}

        void payloadAndRecord(ConsumerRecord<String, Event> same, MessageHeaders all, @Header UUID id, Event event) {}

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
                @Header(KafkaHeaders.DELIVERY_ATTEMPT) int attempt) {}

        void batches(List<Message<String>> messages, List<ConsumerRecord<String, String>> records) {}

        void hidden(Message<String> payload, MessageHeaders headers) {}
    }
}
