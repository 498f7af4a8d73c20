package dev.idempotency.internal.check;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.StartupCheck;
import java.lang.reflect.Method;
import java.time.DayOfWeek;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
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

/** Which expressions give no key that is the same at every delivery, or none that tells messages apart. */
class KeyCheckTests {

    private static List<StartupCheck> findings(String method, String role, String expression) {
        Method listener = Arrays.stream(Listeners.class.getDeclaredMethods())
                .filter(each -> each.getName().equals(method))
                .findFirst()
                .orElseThrow();
        List<StartupCheck> findings = new ArrayList<>();
        KeyCheck.check(role, expression, listener, (check, what, remedy) -> findings.add(check));
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
                "#record.headers()",
                "#headers",
                "#id",
                "#attempt + '/' + #payload",
                "#message.headers[id]",
                "#message.headers[\"id\"]",
                "#message.getHeaders().get('id', T(java.util.UUID))",
                "#message?.headers?.timestamp",
                "#message.getHeaders().getId()",
            })
    void aKeyThatIsAnotherOneAtEveryDeliveryIsFound(String expression) {
        assertThat(findings("records", "key", expression)).containsExactly(StartupCheck.UNSTABLE_KEY);
        assertThat(findings("records", "version", expression)).containsExactly(StartupCheck.UNSTABLE_KEY);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "'order#1'",
                "T(java.time.DayOfWeek).MONDAY",
                "#record.offset()",
                "#payload + #record.offset()",
                "#record.topic() + '/' + #record.timestamp",
                "#coordinates.topic()",
                "#offset",
            })
    void aKeyThatMessagesShareIsFound(String expression) {
        assertThat(findings("records", "key", expression)).containsExactly(StartupCheck.AMBIGUOUS_KEY);
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
        assertThat(findings("records", "key", expression)).isEmpty();
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
        "batches, #messages.headers.id, UNSTABLE_KEY",
        "hidden, #headers.id, ",
        "hidden, #payload.headers.id, ",
        "twoPayloads, #payload.id, AMBIGUOUS_KEY",
        "namedPayload, #payload.id, ",
        "payloadFirst, #payload, ",
        "usualName, #payload.idd, KEY_EXPRESSION",
        "payloadAndRecord, #payload.id, "
    })
    void whatIsFoundDependsOnTheParameters(String method, String expression, @Nullable StartupCheck found) {
        assertThat(findings(method, "key", expression)).isEqualTo((found != null) ? List.of(found) : List.of());
    }

    @ParameterizedTest
    @ValueSource(strings = {"#record.timestamp()", "7"})
    void aVersionThatIsNotOfTheStateIsFound(String expression) {
        assertThat(findings("records", "version", expression)).containsExactly(StartupCheck.AMBIGUOUS_KEY);
    }

    @ParameterizedTest
    @CsvSource({
        "#payload.changedAt, KEY_EXPRESSION",
        "#state?.previous.day(), KEY_EXPRESSION",
        "#payload.share, KEY_EXPRESSION",
        "#payload.number, ",
        "#payload.any, ",
        "#payload.changedAt.toString(), ",
    })
    void aVersionWhoseTypeIsNeverOneIsFound(String expression, @Nullable StartupCheck found) {
        assertThat(findings("state", "version", expression)).isEqualTo((found != null) ? List.of(found) : List.of());
    }

    @SuppressWarnings("unused") // Their signatures are looked at.
    private static final class Listeners {

        record Event(String id) {}

        record State(LocalDateTime changedAt, LocalDate day, double share, Long number, Object any) {

            public State getPrevious() {
                return this;
            }
        }

        void state(State state) {}

        void typed(Event event) {}

        void text(String text) {}

        void ofMap(Map<String, Object> map) {}

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
