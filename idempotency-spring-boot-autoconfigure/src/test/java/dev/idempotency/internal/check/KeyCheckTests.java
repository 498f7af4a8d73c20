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

/** Expressions whose keys change between deliveries, or do not distinguish messages. */
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
                "#same + '/' + #payload",
                "#record.headers()",
                "#headers",
                "#message",
                "#message.headers",
                "#all",
                "#some + '/x'",
                "#about",
                "#some.id",
                "#id",
                "#attempt + '/' + #payload",
                "#message.headers[id]",
                "#message.headers[\"id\"]",
                "#message.getHeaders().get('id', T(java.util.UUID))",
                "#message?.headers?.timestamp",
                "#all[\"timestamp\"]",
                "#message.getHeaders().getId()",
                "#all.getTimestamp()",
            })
    void aKeyThatIsAnotherOneAtEveryDeliveryIsFound(String expression) {
        assertThat(findings("records", "key", expression)).containsExactly(StartupCheck.UNSTABLE_KEY);
        assertThat(findings("records", "version", expression)).containsExactly(StartupCheck.UNSTABLE_KEY);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '~', textBlock = """
            AMBIGUOUS_KEY  | key     | records          | 'order#1'
            AMBIGUOUS_KEY  | key     | records          | T(java.time.DayOfWeek).MONDAY
            AMBIGUOUS_KEY  | key     | records          | #record.offset()
            AMBIGUOUS_KEY  | key     | records          | #same.offset() + '/' + #record.topic()
            AMBIGUOUS_KEY  | key     | records          | #payload + #record.offset()
            AMBIGUOUS_KEY  | key     | records          | #record.topic() + '/' + #record.timestamp
            AMBIGUOUS_KEY  | key     | records          | #coordinates.topic()
            AMBIGUOUS_KEY  | key     | records          | #about.offset()
            AMBIGUOUS_KEY  | key     | records          | #offset
            AMBIGUOUS_KEY  | key     | records          | #at + '/' + #record.topic()
            nothing        | key     | records          | #payload
            nothing        | key     | records          | #record.key()
            nothing        | key     | records          | #record.value().id + '/' + #record.topic()
            nothing        | key     | records          | #record.key() + '/' + #record.timestamp()
            nothing        | key     | records          | #record.topic() + '-' + #record.partition() + '@' + #record.offset()
            nothing        | key     | records          | 'x/' + #coordinates
            nothing        | key     | records          | #offset + '/' + #record.partition()
            nothing        | key     | records          | @keys.keyOf(#record)
            nothing        | key     | records          | @keys.current()
            nothing        | key     | records          | T(com.acme.Keys).of(#record)
            nothing        | key     | records          | #record.headers().lastHeader('id').value()
            nothing        | key     | records          | #headers.id
            nothing        | key     | records          | #headers['id'] + #message.headers['order-id'] + #message.payload
            nothing        | key     | records          | #headers.isEmpty() ? #payload : #headers['a']
            nothing        | key     | records          | #headers == null ? #payload : #payload.trim()
            nothing        | key     | records          | #jsonPath(#record.value(), '$.id')
            nothing        | key     | records          | #all['order']
            KEY_EXPRESSION | key     | typed            | #event.idd
            KEY_EXPRESSION | key     | typed            | #payload.idd + '/' + #event.id
            KEY_EXPRESSION | key     | typed            | #event
            KEY_EXPRESSION | key     | typed            | #payload
            nothing        | key     | typed            | #event.id
            nothing        | key     | typed            | #event.id()
            nothing        | key     | typed            | #event.toString()
            nothing        | key     | typed            | #event + '/x'
            nothing        | key     | typed            | #record.value().idd
            KEY_EXPRESSION | key     | text             | #payload.id
            nothing        | key     | text             | #payload.substring(3)
            nothing        | key     | ofMap            | #payload.id
            KEY_EXPRESSION | key     | ofMap            | #map
            UNSTABLE_KEY   | key     | batches          | #messages.headers.id
            UNSTABLE_KEY   | key     | batches          | #records
            nothing        | key     | hidden           | #headers.id
            nothing        | key     | hidden           | #payload.headers.id
            AMBIGUOUS_KEY  | key     | twoPayloads      | #payload.id
            nothing        | key     | namedPayload     | #payload.id
            nothing        | key     | payloadFirst     | #payload
            KEY_EXPRESSION | key     | usualName        | #payload.idd
            nothing        | key     | payloadAndRecord | #payload.id
            AMBIGUOUS_KEY  | version | records          | #record.timestamp()
            AMBIGUOUS_KEY  | version | records          | #same.offset()
            AMBIGUOUS_KEY  | version | records          | #at
            AMBIGUOUS_KEY  | version | records          | 7
            KEY_EXPRESSION | version | state            | #payload.changedAt
            KEY_EXPRESSION | version | state            | #state?.previous.day()
            KEY_EXPRESSION | version | state            | #payload.share
            nothing        | version | state            | #payload.number
            nothing        | version | state            | #payload.any
            nothing        | version | state            | #payload.changedAt.toString()
            """)
    void whatIsFoundDependsOnTheExpressionAndOnTheParameters(
            String found, String role, String method, String expression) {
        assertThat(findings(method, role, expression))
                .extracting(StartupCheck::name)
                .isEqualTo(found.equals("nothing") ? List.of() : List.of(found));
    }

    @SuppressWarnings("unused") // Only the signatures are checked.
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
