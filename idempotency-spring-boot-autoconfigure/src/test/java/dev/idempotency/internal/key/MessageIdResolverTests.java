package dev.idempotency.internal.key;

import static dev.idempotency.app.Thrown.assertThrown;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.idempotency.ConsumerWaitingException;
import dev.idempotency.ConsumerWaitingException.Awaited;
import dev.idempotency.InvalidMessageKeyException;
import dev.idempotency.MessageId;
import dev.idempotency.OnMissingKey;
import dev.idempotency.RecordCoordinates;
import dev.idempotency.internal.kafka.KafkaCoordinates;
import dev.idempotency.internal.kafka.TopicCoordinates;
import dev.idempotency.internal.store.MessageIdText;
import dev.idempotency.key.MessageKeyResolver;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.function.Function;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.Uuid;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.support.DefaultListableBeanFactory;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.kafka.support.KafkaHeaders;

/** Keys from headers and expressions, and the ids that are derived from them. */
class MessageIdResolverTests {

    private static final Uuid TOPIC_ID = Uuid.fromString("sSgSD6FsTlmLMQ7rnjXs3w");

    private final ConsumerRecord<String, Object> record = new ConsumerRecord<>("orders", 2, 17, "key", "value");

    private MessageId resolve(String key) {
        return new MessageIdResolver("ledger", message -> key, OnMissingKey.FAIL).resolve(view(null));
    }

    private MessageId evaluate(String expression, Object payload, Object... arguments) {
        String[] names = new String[arguments.length];
        Arrays.setAll(names, i -> "arg" + i);
        KeySource source = source(expression, List.of(names), new DefaultListableBeanFactory());
        return new MessageIdResolver("ledger", source, OnMissingKey.FAIL).resolve(view(payload, arguments));
    }

    private static KeySource source(String expression, List<String> names, BeanFactory beans) {
        return new ExpressionKeySource(
                "key",
                expression,
                names,
                beans,
                record -> TopicCoordinates.of(TOPIC_ID, KafkaCoordinates.original(record)));
    }

    private MessageView view(Object payload, Object... arguments) {
        return new TestMessage(this.record, payload, arguments);
    }

    @Test
    void onlyKeysThatAreTooLongAreDigestedAndNoneCollide() {
        String longest = "x".repeat(MessageId.MAX_VALUE_LENGTH);
        String digest = resolve(longest + "1").value();
        assertThat(resolve(longest)).isEqualTo(new MessageId("ledger", longest));
        assertThat(digest)
                .matches("sha256:[0-9a-f]{64}")
                .isEqualTo(resolve(longest + "1").value())
                .isNotEqualTo(resolve(longest + "2").value());
        assertThat(resolve(digest).value()).startsWith("sha256:").isNotEqualTo(digest);
    }

    @Test
    void longValuesAreAbbreviatedInMessages() {
        String large = "x".repeat(1_000_000);
        KeySource parsing = message -> String.valueOf(Integer.parseInt(large));
        assertThatThrownBy(() -> new MessageIdResolver("ledger", parsing, OnMissingKey.FAIL).resolve(view(null)))
                .message()
                .contains("NumberFormatException")
                .hasSizeLessThan(2_000);
        assertThatThrownBy(() -> MessageIdText.idsNamed("ledger", " ".repeat(1_000_000)))
                .message()
                .hasSizeLessThan(2_000);
    }

    @Test
    void keysThatNoDatabaseTakesAreRefusedWithTheirRecord() {
        assertThrown(InvalidMessageKeyException.class, () -> resolve("a\0b"), "orders-2@17", "NUL");
        assertThrown(InvalidMessageKeyException.class, () -> resolve("a\ud800"), "Unicode");
    }

    @Test
    void expressionsSeeTheRecordThePayloadTheHeadersAndTheArguments() {
        this.record.headers().add("tenant", "acme".getBytes(StandardCharsets.UTF_8));
        assertThat(evaluate("#record.key()", null).value()).isEqualTo("key");
        assertThat(evaluate("#payload.id + '/' + #headers['tenant']", Map.of("id", 7))
                        .value())
                .isEqualTo("7/acme");
        assertThat(evaluate("#arg1", null, "first", "second").value()).isEqualTo("second");
        assertThat(evaluate("#payload", UUID.fromString("00000000-0000-0000-0000-000000000001"))
                        .value())
                .endsWith("0001");
    }

    @Test
    void anExpressionIsEvaluatedAnewForPayloadsOfDifferentTypes() {
        KeySource source = source("#payload.toString()", List.of(), new DefaultListableBeanFactory());
        for (int i = 0; i < 500; i++) {
            assertThat(source.keyOf(view("text-" + i))).isEqualTo("text-" + i);
            assertThat(source.keyOf(view(i))).isEqualTo(String.valueOf(i));
        }
    }

    @Test
    void coordinatesLeadBackToTheOriginalRecordAcrossRetryTopics() {
        assertThat(evaluate("#coordinates", null).value()).isEqualTo("orders-2@17/" + TOPIC_ID);
        this.record.headers().add(KafkaHeaders.ORIGINAL_TOPIC, "main".getBytes(StandardCharsets.UTF_8));
        this.record.headers().add(KafkaHeaders.ORIGINAL_PARTITION, new byte[] {0, 0, 0, 1});
        this.record.headers().add(KafkaHeaders.ORIGINAL_OFFSET, new byte[] {0, 0, 0, 0, 0, 0, 0, 5});
        this.record.headers().add(KafkaHeaders.ORIGINAL_TOPIC, "later hop".getBytes(StandardCharsets.UTF_8));
        assertThat(evaluate("#coordinates", null).value()).isEqualTo("main-1@5/" + TOPIC_ID);
    }

    @Test
    void onlyExpressionsThatNameCoordinatesAskForTheTopic() {
        Function<ConsumerRecord<?, ?>, TopicCoordinates> broker = record -> {
            throw new ConsumerWaitingException(Awaited.BROKER, "nobody answers", null);
        };
        BeanFactory beans = new DefaultListableBeanFactory();
        KeySource without =
                new ExpressionKeySource("key", "#record.topic() + #record.offset()", List.of(), beans, broker);
        assertThat(without.keyOf(view(null))).isEqualTo("orders17");
        KeySource with = new ExpressionKeySource("key", "{1}.![#coordinates + '/x'][0]", List.of(), beans, broker);
        MessageIdResolver ids = new MessageIdResolver("ledger", with, OnMissingKey.PROCESS);
        assertThrown(ConsumerWaitingException.class, () -> ids.resolve(view(null)));
    }

    @Test
    void aRecordTellsItsCoordinatesUnlessTheyAreThoseOfAnother() {
        RecordCoordinates here = KafkaCoordinates.of(this.record);
        TopicCoordinates.of(TOPIC_ID, new RecordCoordinates("orders", 2, 1)).tellBy(this.record);
        assertThat(TopicCoordinates.toldBy(this.record, here)).isNull();
        TopicCoordinates.of(TOPIC_ID, here).tellBy(this.record);
        assertThat(TopicCoordinates.toldBy(this.record, here)).isEqualTo(TopicCoordinates.of(TOPIC_ID, here));
        assertThat(this.record.headers().headers(TopicCoordinates.HEADER)).hasSize(1);
        this.record.headers().add(TopicCoordinates.HEADER, (here + "/?").getBytes(StandardCharsets.UTF_8));
        assertThat(TopicCoordinates.toldBy(this.record, here)).isNull();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "#payload.absent + '/' + #payload.status",
                "#payload.status + '/' + #payload.absent",
                "#record.topic() + '/' + #payload.empty",
                "#payload.status + '/' + #headers['missing']",
                "#payload.status + '/' + #payload.blank",
                "#payload.status + '/' + #payload.nothing",
                "#payload.status + '/' + #payload.wordNull",
                "#payload.status + '/' + (#payload.absent ?: '')",
                "#payload.status + '/' + (#payload.absent != null ? #payload.absent : #payload.absent)",
                "#payload.status + '/' + #payload.absent?.toString()",
                "#payload.status + '/' + #payload.holder.value",
                "#payload.nothing",
                "#payload.wordNull",
                "#payload.absent.id",
            })
    void whereAPartIsAbsentThereIsNoKeyRatherThanOneThatAllSuchMessagesShare(String expression) {
        Map<String, Object> order = new HashMap<>();
        order.put("status", "NEW");
        order.put("absent", null);
        order.put("blank", " ");
        order.put("empty", "");
        order.put("nothing", Optional.empty());
        order.put("wordNull", "null");
        order.put("holder", Collections.singletonMap("value", null));
        assertThatExceptionOfType(InvalidMessageKeyException.class)
                .isThrownBy(() -> evaluate(expression, order))
                .matches(InvalidMessageKeyException::isMissing);
    }

    /** Without a separator, different pairs of numbers can result in the same key. */
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '"',
            value = {
                "#payload.customer + #payload.number | puts two numbers together",
                "#payload.customer + #payload.number + '/NEW' | puts two numbers together",
                "#payload.customer + '' + #payload.number | puts two numbers together",
                "'NEW/' + (#payload.customer + #payload.number) | puts two numbers together",
                "#payload.customer + #payload.get('number') | puts two numbers together",
                "#payload.position * 100 + #payload.number | puts two numbers together",
                "#payload.line | make it a text",
                "'x/' + #payload.line | make it a text",
                "'x/' + {1, 2} | make it a text",
                "'x/' + new java.util.Date(0) | make it a text",
                "#payload.line.noSuchThing | noSuchThing",
            })
    void aKeyThatCannotBeUsedIsRefusedWithItsRecord(String expression, String why) {
        assertThrown(
                InvalidMessageKeyException.class,
                () -> evaluate(expression, Map.of("customer", 1L, "number", 12, "position", 3, "line", new Line(3))),
                why,
                "orders-2@17");
    }

    private static Map<String, Object> order(String status, Object id) {
        return new HashMap<>(Map.of("status", status, "id", id));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '"',
            value = {
                "#payload.id + '/' + #payload.status                        | 7/NEW",
                "#payload.id + ' ' + #payload.status                        | 7 NEW",
                "'a' + #payload.maybe                                       | aMAYBE",
                "#payload.maybe                                             | MAYBE",
                "#payload.absent ?: #payload.id                             | 7",
                "(#payload.absent ?: 'none') + '/' + #payload.id            | none/7",
                "T(String).join(' ', #payload.status, #payload.maybe.get()) | NEW MAYBE",
                "T(String).format('%s-%s', #payload.id, #payload.status)    | 7-NEW",
                "'%05d'.formatted(#payload.id)                              | 00007",
                "T(java.util.Base64).getEncoder().encodeToString(#payload.bytes) | AQI=",
                "#payload.unit + '/' + #payload.day                         | DAYS/2026-01-01",
                "{#payload.id, #payload.status}.toString()                  | [7, NEW]",
                "#payload.absent == null ? #payload.id : #payload.absent    | 7",
                "#payload['id'] + '-' + #payload['status']                  | 7-NEW",
                "#payload.list[0] + '/' + #payload.order.line               | a/3",
                "'' + #payload.initial + #payload.status                    | xNEW",
                "#payload.path.toString()                                   | orders/7",
                "T(String).join(',', #payload.items.![status])              | NEW,OLD",
                "#payload.items.?[id == 7][0].status + #payload.id          | NEW7",
                "#jsonPath(#payload.absent, '$.id') ?: #payload.id          | 7",
                "#jsonPath('{}', '$.id') ?: #payload.id                     | 7",
                "9999999999L + '/it''s/' + #payload.id                      | 9999999999/it's/7",
            })
    void partsThatAreThereArePutTogetherAsEver(String expression, String key) {
        Map<String, Object> order = order("NEW", 7);
        order.put("absent", null);
        order.put("maybe", Optional.of("MAYBE"));
        order.put("bytes", new byte[] {1, 2});
        order.put("unit", java.time.temporal.ChronoUnit.DAYS);
        order.put("day", java.time.LocalDate.of(2026, 1, 1));
        order.put("list", List.of("a", "b"));
        order.put("order", new Line(3));
        order.put("initial", 'x');
        order.put("path", Path.of("orders", "7"));
        order.put("items", List.of(order("NEW", 7), order("OLD", 8)));
        KeySource source = source(expression, List.of(), new DefaultListableBeanFactory());
        for (int i = 0; i < 300; i++) {
            assertThat(source.keyOf(view(order))).isEqualTo(key);
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "#payload.",
                "#paylaod.id",
                "#jsonpath(#payload, '$.id')",
                "#payload(1)",
                "@missing.keyOf(#record)",
                "'a' + @missing.keyOf(#record)",
                "T(no.such.Type).of(#payload)",
                "new no.such.Type(#payload)",
                "#root",
                "#root.id",
                "#this",
                "#this + '/' + #payload",
                "#payload.items.![#root]",
                "payload.id + '/' + #payload",
                "#payload.get(id)",
                "id()",
                "['id'] + #payload",
                "{a, #payload}.toString()",
            })
    void anExpressionThatRefersToWhatThereIsNotIsRefusedAtOnce(String expression) {
        DefaultListableBeanFactory beans = new DefaultListableBeanFactory();
        beans.registerSingleton("keys", new Keys());
        assertThrown(
                IllegalArgumentException.class,
                () -> source(expression, List.of(), beans),
                "The key expression '" + expression + "'");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "@keys.keyOf(#record)",
                "T(Long).valueOf(#payload).toString()",
                "T(java.util.concurrent.TimeUnit).DAYS + '/' + #payload",
                "T(String).getName() + #payload",
                "T(String).name + #payload",
                "T(int[]).name + #payload",
                "T(String).format('%s%s%s', 1, 2, #payload)",
                "new java.math.BigDecimal(#payload)",
                "new int[]{1}[0] + '/' + #payload",
                "#jsonPath(#payload, '$')",
                "{#payload}.![#this + length()][0]",
                "{#payload}.?[#this.length() > 0 and length() > 0][0]",
                "{id: #payload}[id]",
                "{id: #payload}['id']",
                "@'my-keys'.keyOf(#record) + '/' + #payload",
            })
    void anExpressionThatRefersToWhatThereIsIsTaken(String expression) {
        DefaultListableBeanFactory beans = new DefaultListableBeanFactory();
        beans.registerSingleton("my-keys", new Keys());
        beans.registerSingleton("keys", new Keys());
        assertThat(source(expression, List.of(), beans).keyOf(view("7"))).isNotBlank();
    }

    @Test
    void aResolverIsNamedByItsTextOrByItsClass() {
        assertThat(KeySource.of(new Nameless())).hasToString(Nameless.class.getName());
        assertThat(KeySource.of(new HeaderKeyResolver(List.of("id")))).hasToString("headers [id]");
    }

    @Test
    void jsonPathWithoutItsLibraryIsRefusedWithTheDependencyToAdd() {
        Thread thread = Thread.currentThread();
        ClassLoader before = thread.getContextClassLoader();
        thread.setContextClassLoader(new FilteredClassLoader("com.jayway.jsonpath"));
        try {
            assertThrown(
                    IllegalArgumentException.class,
                    () -> evaluate("#jsonPath(#payload, '$.id')", "{}"),
                    "com.jayway.jsonpath:json-path");
        } finally {
            thread.setContextClassLoader(before);
        }
    }

    /** A value type of the application. */
    public record Line(int line) {}

    private static final class Nameless implements MessageKeyResolver {

        @Override
        public String resolveKey(ConsumerRecord<?, ?> record) {
            return "7";
        }
    }

    /** Public methods of a bean. */
    public static class Keys {

        public String keyOf(ConsumerRecord<?, ?> record) {
            return record.topic();
        }
    }

    private final HeaderKeyResolver headers =
            new HeaderKeyResolver(List.of("idempotency-key", "message-id", "ce_id", "id"));

    private void header(String name, String value) {
        this.record.headers().add(name, value.getBytes(StandardCharsets.UTF_8));
    }

    @ParameterizedTest
    @CsvSource(
            ignoreLeadingAndTrailingWhitespace = false,
            delimiter = '|',
            value = {
                "id=last;message-id=second|second",
                "idempotency-key=  ;id=1|1",
                "idempotency-key=\t;id=1|1",
                "idempotency-key=\u00a0;id=1|1",
                "idempotency-key=null;id=1|1",
                "idempotency-key=;id=1|1",
                "other=1|",
                "ce_id=1;ce_source=/shop/orders|/shop/orders 1",
                "ce_id=null;ce_source=/shop/orders|"
            })
    void theFirstHeaderOfTheListThatIsNotBlankCounts(String headers, String key) {
        for (String each : headers.split(";")) {
            header(each.split("=", 2)[0], each.split("=", 2)[1]);
        }
        assertThat(this.headers.resolveKey(this.record)).isEqualTo(key);
    }

    @Test
    void bytesThatAreNoTextBecomeHexadecimalAndStayDifferent() {
        byte[] number = ByteBuffer.allocate(Long.BYTES).putLong(65).array();
        this.record.headers().add("id", number);
        assertThat(this.headers.resolveKey(this.record)).isEqualTo("hex:0000000000000041");
        this.record.headers().add("id", new byte[] {(byte) 0xff, (byte) 0xfe});
        assertThat(this.headers.resolveKey(this.record)).isEqualTo("hex:fffe");
    }

    @Test
    void aTextThatLooksHexadecimalDoesNotMeetTheBytesItSpells() {
        header("id", "hex:fffe");
        assertThat(this.headers.resolveKey(this.record)).startsWith("hex:").isNotEqualTo("hex:fffe");
    }
}
