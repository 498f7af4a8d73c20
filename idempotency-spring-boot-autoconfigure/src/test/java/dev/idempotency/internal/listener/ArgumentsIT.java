package dev.idempotency.internal.listener;

import static dev.idempotency.app.Thrown.undeclared;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.idempotency.IdempotentListener;
import dev.idempotency.MessageId;
import dev.idempotency.app.SharedApplicationTest.ContainerFactory;
import dev.idempotency.app.TestApplication;
import dev.idempotency.app.TopicContents;
import java.io.IOException;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.reflect.Proxy;
import java.lang.reflect.Type;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.UnaryOperator;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Bean;
import org.springframework.core.NestedExceptionUtils;
import org.springframework.core.annotation.AliasFor;
import org.springframework.kafka.annotation.KafkaListener;
import org.springframework.kafka.core.KafkaTemplate;
import org.springframework.kafka.core.ProducerFactory;
import org.springframework.kafka.listener.ContainerProperties.AckMode;
import org.springframework.kafka.listener.adapter.ConsumerRecordMetadata;
import org.springframework.kafka.listener.adapter.DefaultBatchToRecordAdapter;
import org.springframework.kafka.listener.adapter.RecordFilterStrategy;
import org.springframework.kafka.support.Acknowledgment;
import org.springframework.kafka.support.KafkaHeaders;
import org.springframework.kafka.support.converter.BatchMessagingMessageConverter;
import org.springframework.kafka.support.converter.JacksonJsonMessageConverter;
import org.springframework.kafka.support.serializer.ToStringSerializer;
import org.springframework.messaging.Message;
import org.springframework.messaging.handler.annotation.Header;
import org.springframework.messaging.handler.annotation.Headers;
import org.springframework.messaging.handler.annotation.Payload;
import org.springframework.messaging.handler.annotation.SendTo;
import org.springframework.messaging.support.MessageBuilder;
import org.springframework.messaging.support.MessageHeaderAccessor;
import org.springframework.resilience.annotation.EnableResilientMethods;
import org.springframework.resilience.annotation.Retryable;

/** Arguments of listeners: every signature that Spring Kafka supports, with conversion, validation and filters. */
@ListenersTest.Application(beans = ArgumentsIT.Factories.class, properties = "consumer-name=named by a placeholder")
class ArgumentsIT extends ListenersTest {

    private static final String PAYMENT = "{\"paymentId\":\"p-1\",\"amount\":5}";

    @ParameterizedTest
    @ValueSource(classes = {OfHeaders.class, OfMetadata.class, OfPojo.class, HeadersFirst.class})
    void aListenerOfRecordsIsProtected(Class<? extends Listener> listener) {
        deliver(listener, "1:" + PAYMENT, "1:" + PAYMENT, "1:" + PAYMENT);
        assertThat(effects(listener)).containsExactly(PAYMENT);
        assertThat(outcomes(listener).duplicates).hasSize(2);
    }

    @Test
    void itsConsumerIsNamedByAPlaceholderOrAnAnnotationOfTheApplications() {
        assertThat(outcomes(OfMetadata.class).consumers.get(0).name()).isEqualTo("named by a placeholder");
        assertThat(outcomes(Tombstones.class).consumers.get(0).name()).isEqualTo("named by my annotation");
    }

    @Test
    void aTombstoneIsAMessageLikeAnyOther() {
        this.app.send(topic(Tombstones.class), "1", null);
        this.app.send(topic(Tombstones.class), "1", null);
        deliver(Tombstones.class);
        assertThat(effects(Tombstones.class)).containsExactly("nothing");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            OfLists            | 1:a 2:b 1:a 3:c               | 1:a@0=0 2:b@1=1 3:c@3=3 |
            DrainsAndIsRetried | 1:a 2:b 3:c 4:d               | a b c d           |
            LeavesOut          | 1:a 1:a-again 2:left-out 3:c  | a c               |
            PerRecord          | 1:a,b 2:c                     | a,b c             |
            OfJson             | 1:{"name":"a"} 2:no 3:{"name":"c"} | a c          | no
            """)
    void aBatchIsFilteredLikeItsArgumentsHoweverTheListenerChangesThem(
            String name, String messages, String effects, String givenUp) {
        assertDelivered(name, messages, effects, givenUp);
    }

    @Test
    void keysComeFromTheElementThatBelongsToTheRecord() {
        deliver(KeyOfElement.class, ":a", ":b", ":a");
        assertThat(effects(KeyOfElement.class)).containsExactly("a", "b");
        assertThat(outcomes(KeyOfElement.class).processed)
                .extracting(MessageId::value)
                .containsExactly("a/a/0/0", "b/b/1/0");
    }

    @Test
    void anAcknowledgedIndexIsThatOfTheRecordTheListenerSaw() {
        deliver(AcknowledgesByIndex.class, "1:a", "1:a", "1:a", "2:b", "3:c");
        assertThat(outcomes(AcknowledgesByIndex.class).duplicates).hasSize(2);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            FilteredBatch     | 1:drop 2:b 3:drop 2:b 4:d | b d |     | 2 4
            FilteredPoll      | 1:a 2:drop 3:c 4:drop     | a c |     | 1 3
            FilteredUnread    | 1:four 2:x 3:more         | four more | x | 1 3
            """)
    void whatAFilterLeavesOutIsNotClaimed(String name, String messages, String effects, String givenUp, String ids) {
        assertDelivered(name, messages, effects, givenUp);
        assertThat(outcomes(listener(name)).processed)
                .extracting(MessageId::value)
                .containsExactly(ids.split(" "));
    }

    /** Spring Kafka calls the listener with an empty list. */
    @Test
    void aBatchOfWhichTheFilterLeavesNothingIsNoFailure() {
        deliver(LeftWithNothing.class, "1:drop", "2:drop");
        assertThat(outcomes(LeftWithNothing.class).failed).hasValue(0);
        deliver(LeftWithNothing.class, "3:kept");
        assertThat(effects(LeftWithNothing.class)).containsExactly("kept");
        assertThat(givenUp(LeftWithNothing.class)).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(classes = {RefusedByBatchConverter.class, RefusedByManualFilter.class, RefusedByPoll.class})
    @ExtendWith(OutputCaptureExtension.class)
    void whatFailsBeforeTheListenerIsGivenUpAloneAndTheLogHoldsNoPayload(
            Class<? extends Listener> listener, CapturedOutput output) {
        deliver(listener, "1:1", "2:garbage", "2:again", "3:3");
        assertThat(effects(listener)).containsExactly("1", "3");
        assertThat(givenUp(listener)).containsExactly("garbage", "again");
        assertThat(output.toString().lines().filter(line -> line.contains("DeadLetterPublisher")))
                .hasSize(2)
                .noneMatch(line -> line.contains("again"));
    }

    @Test
    void aDuplicateSendsNoReplyWhateverItsMethodReturns() {
        deliver(Replies.class, "1:a", "1:a", "2:bc");
        Awaitility.await().untilAsserted(() -> assertThat(TopicContents.values(topic(Replies.class) + "-replies"))
                .containsExactly("true", "false"));
    }

    @Test
    void batchListenersThatDuplicatesCannotBeTakenOutOfAreRefused() {
        Throwable failure = catchThrowable(() -> TestApplication.start(this.database, List.of(), Unfilterable.class)
                .close());
        assertThat(NestedExceptionUtils.getMostSpecificCause(failure)
                        .getMessage()
                        .split("batch-signature\\]", -1))
                .hasSize(1 + Unfilterable.class.getDeclaredMethods().length);
    }

    @Test
    void aListenerBehindAnInterfaceProxyIsProtected() {
        List<String> properties = List.of("spring.aop.proxy-target-class=false", "topic=" + topic(Tombstones.class));
        try (TestApplication other = TestApplication.start(this.database, properties, BehindInterface.class)) {
            assertThat(other.bean(Listens.class)).isInstanceOf(Proxy.class);
            other.send(topic(Tombstones.class), "2", "a");
            other.send(topic(Tombstones.class), "2", "a");
            other.awaitCaughtUp("behind-interface", topic(Tombstones.class));
            assertThat(BehindInterface.CALLS).containsExactly("a");
        }
    }

    static class OfHeaders extends Listener {

        @OwnTopic
        @IdempotentListener(key = "#id")
        void on(
                @Header("message-id") String id,
                @Headers Map<String, Object> headers,
                @Header(KafkaHeaders.RECEIVED_TOPIC) String topic,
                @Payload String payload) {
            assertThat(headers.get("message-id")).isEqualTo(id.getBytes(StandardCharsets.UTF_8));
            assertThat(topic).isEqualTo(getTopic());
            happen(payload);
        }
    }

    static class OfMetadata extends Listener {

        @OwnTopic
        @IdempotentListener(consumer = "${consumer-name}")
        void on(ConsumerRecordMetadata metadata, Consumer<?, ?> consumer, String payload) {
            assertThat(consumer.assignment()).isNotEmpty();
            assertThat(metadata.offset()).isZero();
            happen(payload);
        }
    }

    public record Payment(String paymentId, int amount) {}

    static class OfPojo extends Listener {

        @OwnTopic(containerFactory = "json")
        @IdempotentListener(key = "#payload.paymentId")
        void on(Payment payment) {
            happen("{\"paymentId\":\"" + payment.paymentId() + "\",\"amount\":" + payment.amount() + "}");
        }
    }

    @Retention(RetentionPolicy.RUNTIME)
    @IdempotentListener
    @interface Once {

        @AliasFor(annotation = IdempotentListener.class, attribute = "consumer")
        String value();
    }

    static class HeadersFirst extends Listener {

        @OwnTopic(
                properties = {
                    "value.deserializer=org.springframework.kafka.support.serializer.JacksonJsonDeserializer",
                    "spring.json.use.type.headers=false",
                    "spring.json.value.default.type=dev.idempotency.internal.listener.ArgumentsIT$Payment"
                })
        @IdempotentListener(key = "#payload.paymentId")
        void on(MessageHeaderAccessor headers, Payment payment) {
            assertThat(payment.paymentId()).isEqualTo("p-1");
            happen(PAYMENT);
        }
    }

    static class Tombstones extends Listener {

        @OwnTopic
        @Once("named by my annotation")
        void on(@Payload(required = false) String payload) {
            happen((payload == null) ? "nothing" : payload);
        }
    }

    static class OfLists extends Listener {

        @OwnTopic(batch = "true", containerFactory = "manual")
        @IdempotentListener
        void on(
                List<String> payloads,
                @Header(KafkaHeaders.OFFSET) List<Long> offsets,
                @Headers Map<String, Object> headers,
                @Header(KafkaHeaders.BATCH_CONVERTED_HEADERS) List<Map<String, Object>> converted,
                Consumer<?, ?> consumer,
                Acknowledgment acknowledgment) {
            List<?> sameOffsets = (List<?>) headers.get(KafkaHeaders.OFFSET);
            assertThat(consumer.assignment()).isNotEmpty();
            for (int i = 0; i < payloads.size(); i++) {
                String id = new String((byte[]) converted.get(i).get("message-id"), StandardCharsets.UTF_8);
                happen(id + ":" + payloads.get(i) + "@" + offsets.get(i) + "=" + sameOffsets.get(i));
            }
            acknowledgment.acknowledge();
        }
    }

    @EnableResilientMethods
    static class DrainsAndIsRetried extends Listener {

        @OwnTopic(batch = "true")
        @IdempotentListener
        @Retryable(delay = 1)
        void on(List<String> payloads) {
            while (!payloads.isEmpty()) {
                happenAndFailOnceAt("b", payloads.remove(0));
            }
        }
    }

    static class KeyOfElement extends Listener {

        @OwnTopic(batch = "true")
        @IdempotentListener(
                key = "#payload + '/' + #texts + '/' + (#payload == 'a' ? 0 : #offsets) + '/' + #record.partition()")
        void on(List<String> texts, @Header(KafkaHeaders.OFFSET) List<Long> offsets) {
            happen(texts);
        }
    }

    static class AcknowledgesByIndex extends Listener {

        @OwnTopic(batch = "true", containerFactory = "immediate")
        @IdempotentListener
        void on(List<String> payloads, Acknowledgment acknowledgment) {
            acknowledgment.acknowledge(1);
            acknowledgment.acknowledge(2);
        }
    }

    static class LeavesOut extends Listener {

        @OwnTopic(batch = "true", containerFactory = "leavingOut")
        @IdempotentListener
        void on(List<String> payloads, @Headers Map<String, Object> headers) {
            happen(payloads);
        }
    }

    public record Named(String name) {}

    static class OfJson extends Listener {

        @OwnTopic(batch = "true", containerFactory = "json")
        @IdempotentListener
        void on(List<Named> payloads) {
            payloads.forEach(named -> happen((named != null) ? named.name() : "nothing"));
        }
    }

    @Container(factory = "perRecord")
    @IdempotentListener
    static class PerRecord extends OfBatches {}

    @Container(filter = "filter")
    @IdempotentListener
    static class FilteredBatch extends OfBatches {}

    @Container(filter = "filter")
    @IdempotentListener(transactionPerPoll = "true")
    static class FilteredPoll extends OfRecords {}

    /** Unreadable records, whose value is null, are not passed to a filter of tombstones. */
    static class FilteredUnread extends Listener {

        @OwnTopic(
                filter = "tombstones",
                properties = {
                    "value.deserializer=org.springframework.kafka.support.serializer.ErrorHandlingDeserializer",
                    "spring.deserializer.value.delegate.class=org.apache.kafka.common.serialization.IntegerDeserializer"
                })
        @IdempotentListener(transactionPerPoll = "true")
        void on(Integer value) {
            happen(new String(ByteBuffer.allocate(4).putInt(value).array(), StandardCharsets.US_ASCII));
        }
    }

    @Container(filter = "filter")
    @IdempotentListener(inbox = "true")
    static class LeftWithNothing extends OfBatches {}

    @Container(factory = "convertingBatches")
    @IdempotentListener
    static class RefusedByBatchConverter extends OfBatches {}

    static class RefusedByManualFilter extends Listener {

        @OwnTopic(batch = "true", containerFactory = "manual", filter = "failingFilter")
        @IdempotentListener
        void on(List<String> payloads, Acknowledgment acknowledgment) {
            happen(payloads);
            acknowledgment.acknowledge();
        }
    }

    static class RefusedByPoll extends Listener {

        @OwnTopic
        @IdempotentListener(transactionPerPoll = "true")
        void on(int number) {
            happen(Integer.toString(number));
        }
    }

    static class Replies extends Listener {

        @OwnTopic(containerFactory = "replying")
        @IdempotentListener
        @SendTo("Replies${suffix}-replies")
        boolean on(String payload) {
            return payload.length() == 1;
        }
    }

    interface Listens {

        void on(String payload);
    }

    static class BehindInterface implements Listens {

        private static final List<String> CALLS = new ArrayList<>();

        @Override
        @KafkaListener(topics = "${topic}", groupId = "behind-interface")
        @IdempotentListener
        public void on(String payload) {
            if (payload != null) {
                CALLS.add(payload);
            }
        }
    }

    static class Unfilterable {

        @KafkaListener(topics = "any", groupId = "1", batch = "true")
        @IdempotentListener
        void set(Set<String> payloads) {}

        @KafkaListener(topics = "any", groupId = "2", batch = "true")
        @IdempotentListener
        void joined(String payloads) {}

        @KafkaListener(topics = "any", groupId = "5", batch = "true")
        @IdempotentListener
        void accessor(List<String> payloads, MessageHeaderAccessor headers) {}

        @KafkaListener(topics = "any", groupId = "7", batch = "true")
        @IdempotentListener
        void optional(List<String> payloads, @Header(KafkaHeaders.OFFSET) Optional<List<Long>> offsets) {}

        @KafkaListener(topics = "any", groupId = "3", batch = "true")
        @IdempotentListener
        void records(ConsumerRecords<String, String> records) {}

        @KafkaListener(topics = "any", groupId = "4", batch = "true")
        @IdempotentListener
        void array(List<String> payloads, @Header(KafkaHeaders.OFFSET) long[] offsets) {}

        @KafkaListener(topics = "any", groupId = "8", batch = "true")
        @IdempotentListener
        void linked(List<String> payloads, @Header(KafkaHeaders.OFFSET) LinkedList<Long> offsets) {}
    }

    static class Factories {

        private static boolean isRefused(Object payload) {
            return !Character.isDigit(String.valueOf(payload).charAt(0));
        }

        @Bean
        static ContainerFactory json(ContainerFactory plain) {
            plain.setRecordMessageConverter(new JacksonJsonMessageConverter());
            plain.setBatchMessageConverter(new BatchMessagingMessageConverter(new JacksonJsonMessageConverter()));
            return plain;
        }

        @Bean
        static ContainerFactory immediate(ContainerFactory plain) {
            return plain.with(factory -> factory.getContainerProperties().setAckMode(AckMode.MANUAL_IMMEDIATE));
        }

        @Bean
        static ContainerFactory replying(ContainerFactory plain, ProducerFactory<Object, Object> producers) {
            return plain.with(factory -> factory.setReplyTemplate(
                    new KafkaTemplate<>(producers, Map.of("value.serializer", ToStringSerializer.class))));
        }

        /** Would call a batch listener once per record, and convert text to a list for that. */
        @Bean
        static ContainerFactory perRecord(ContainerFactory plain) {
            return plain.with(factory -> factory.setBatchToRecordAdapter(new DefaultBatchToRecordAdapter<>()));
        }

        @Bean
        static ContainerFactory leavingOut(ContainerFactory plain) {
            return converting(plain, message -> {
                List<Object> payloads = new ArrayList<>((List<?>) message.getPayload());
                payloads.remove("left-out");
                return MessageBuilder.createMessage(payloads, message.getHeaders());
            });
        }

        @Bean
        static ContainerFactory convertingBatches(ContainerFactory plain) {
            return converting(plain, message -> {
                if (((List<?>) message.getPayload()).stream().anyMatch(Factories::isRefused)) {
                    throw new IllegalArgumentException("by the converter");
                }
                return message;
            });
        }

        private static ContainerFactory converting(ContainerFactory plain, UnaryOperator<Message<?>> conversion) {
            return plain.with(factory -> factory.setBatchMessageConverter(new BatchMessagingMessageConverter() {

                @Override
                public Message<?> toMessage(
                        List<ConsumerRecord<?, ?>> records,
                        Acknowledgment acknowledgment,
                        Consumer<?, ?> consumer,
                        Type type) {
                    return conversion.apply(super.toMessage(records, acknowledgment, consumer, type));
                }
            }));
        }

        @Bean
        static RecordFilterStrategy<Object, Object> filter() {
            return record -> String.valueOf(record.value()).startsWith("drop");
        }

        @Bean
        static RecordFilterStrategy<Object, Object> tombstones() {
            return record -> record.value() == null;
        }

        @Bean
        static RecordFilterStrategy<Object, Object> failingFilter() {
            return record -> {
                if (isRefused(record.value())) {
                    throw undeclared(new IOException("by the filter"));
                }
                return false;
            };
        }
    }
}
