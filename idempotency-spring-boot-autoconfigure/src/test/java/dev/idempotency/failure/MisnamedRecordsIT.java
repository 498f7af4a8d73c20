package dev.idempotency.failure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.idempotency.IdempotentListener;
import dev.idempotency.app.Effects;
import dev.idempotency.app.SharedApplicationTest;
import dev.idempotency.app.TopicContents;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.Stream;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.kafka.autoconfigure.ConcurrentKafkaListenerContainerFactoryConfigurer;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.kafka.annotation.KafkaListener;
import org.springframework.kafka.config.ConcurrentKafkaListenerContainerFactory;
import org.springframework.kafka.config.KafkaListenerEndpointRegistry;
import org.springframework.kafka.core.ConsumerFactory;
import org.springframework.kafka.listener.BatchInterceptor;
import org.springframework.kafka.listener.BatchListenerFailedException;
import org.springframework.kafka.listener.CommonLoggingErrorHandler;
import org.springframework.kafka.listener.DefaultErrorHandler;
import org.springframework.kafka.listener.MessageListenerContainer;
import org.springframework.kafka.listener.adapter.RecordFilterStrategy;
import org.springframework.util.backoff.FixedBackOff;

/** Whoever names a record of a batch, and whichever: those before it are not taken for done unless they are. */
class MisnamedRecordsIT extends SharedApplicationTest {

    private static final int MAX_ATTEMPTS = 3;

    @BeforeAll
    void start() {
        createTopics(1, "provided", "own", "intercepted", "records", "polls", "logged");
        createTopics(2, "reversed");
        start(
                Listeners.class,
                "idempotency.errors.initial-interval=20ms",
                "idempotency.errors.max-interval=50ms",
                "idempotency.errors.max-attempts=" + MAX_ATTEMPTS);
    }

    private MessageListenerContainer container(String kind) {
        return this.app.bean(KafkaListenerEndpointRegistry.class).getListenerContainer(kind);
    }

    private void sendTogether(String kind, String... payloads) {
        container(kind).pause();
        try {
            await().until(() -> container(kind).isContainerPaused());
            send(kind, payloads);
        } finally {
            container(kind).resume();
        }
    }

    private List<String> givenUp(String kind) {
        return kind.equals("own")
                ? List.copyOf(this.app.bean(Listeners.class).recovered)
                : TopicContents.values(topic(kind) + "-dlt");
    }

    @ParameterizedTest
    @CsvSource({
        "provided, nestedIndex",
        "provided, nestedRecord",
        "provided, otherBatch",
        "provided, filter",
        "provided, filterLast",
        "own, nestedIndex",
        "own, nestedRecord",
        "own, otherBatch",
        "own, filter",
        "intercepted, interceptor"
    })
    void noMessageIsLostWhicheverIsNamed(String kind, String failure) {
        String culprit = failure + " " + kind;
        List<String> others =
                Stream.of("1 ", "2 ", "4 ", "5 ").map(i -> i + culprit).toList();
        sendTogether(kind, others.get(0), others.get(1), culprit, others.get(2), others.get(3));
        awaitCaughtUp(kind);
        List<String> effects = this.app.bean(Effects.class).all();
        List<String> givenUp = givenUp(kind);
        assertThat(others).allSatisfy(other -> assertThat(
                        Stream.concat(effects.stream(), givenUp.stream()).filter(other::equals))
                .hasSize(1));
        assertThat(givenUp).containsOnlyOnce(culprit);
        assertThat(effects).doesNotContain(culprit);
        if (kind.equals("provided")) {
            assertThat(effects).containsAll(others);
        }
    }

    @Test
    void anErrorHandlerThatOnlyLogsSkipsNoMessageButTheOneThatFails() {
        sendTogether("logged", "1 logged", "nestedIndex logged", "3 logged");
        awaitCaughtUp("logged");
        assertThat(this.app.bean(Effects.class).all())
                .containsOnlyOnce("1 logged", "3 logged")
                .doesNotContain("nestedIndex logged");
    }

    @Test
    void noMessageIsLostWhereAnInterceptorChangesTheOrderOfPartitions() {
        container("reversed").pause();
        await().until(() -> container("reversed").isContainerPaused());
        for (int partition = 0; partition < 2; partition++) {
            for (String payload : List.of("1", "nestedIndex", "3")) {
                ProducerRecord<Object, Object> record =
                        new ProducerRecord<>(topic("reversed"), partition, null, payload + " reversed " + partition);
                record.headers().add("message-id", (payload + partition).getBytes(StandardCharsets.UTF_8));
                this.app.send(record);
            }
        }
        container("reversed").resume();
        awaitCaughtUp("reversed");
        assertThat(this.app.bean(Effects.class).all())
                .containsOnlyOnce("1 reversed 0", "3 reversed 0", "1 reversed 1", "3 reversed 1");
        assertThat(givenUp("reversed")).containsExactlyInAnyOrder("nestedIndex reversed 0", "nestedIndex reversed 1");
    }

    @Test
    void aMessageThatAnInterceptorDropsIsNotGivenUpForAnother() {
        sendTogether("intercepted", "dropped before", "nestedIndex dropped", "dropped after");
        awaitCaughtUp("intercepted");
        assertThat(givenUp("intercepted"))
                .containsOnlyOnce("nestedIndex dropped")
                .doesNotContain("dropped before", "dropped after");
    }

    @ParameterizedTest
    @ValueSource(strings = {"provided", "own", "records", "polls"})
    void anErrorThatNothingCanBeReliedUponAfterStopsTheContainerAndLosesNothing(String kind) {
        String payload = "memory " + kind;
        sendTogether(kind, "before " + payload, payload, "after " + payload);
        await().atMost(Duration.ofSeconds(60)).until(() -> !container(kind).isChildRunning());
        container(kind).stop();
        container(kind).start();
        awaitCaughtUp(kind);
        List<String> effects = this.app.bean(Effects.class).all();
        assertThat(Stream.of("before " + payload, payload, "after " + payload))
                .allSatisfy(each -> assertThat(effects).containsOnlyOnce(each));
        assertThat(givenUp(kind)).doesNotContain("before " + payload, payload, "after " + payload);
    }

    @Configuration(proxyBeanMethods = false)
    @Import({Effects.class, OfKinds.class})
    static class Listeners {

        final List<String> recovered = new CopyOnWriteArrayList<>();

        private static ConcurrentKafkaListenerContainerFactory<Object, Object> factory(
                ConcurrentKafkaListenerContainerFactoryConfigurer configurer,
                ConsumerFactory<Object, Object> consumers) {
            ConcurrentKafkaListenerContainerFactory<Object, Object> factory =
                    new ConcurrentKafkaListenerContainerFactory<>();
            configurer.configure(factory, consumers);
            factory.setBatchListener(true);
            return factory;
        }

        @Bean
        ConcurrentKafkaListenerContainerFactory<Object, Object> filtering(
                ConcurrentKafkaListenerContainerFactoryConfigurer configurer,
                ConsumerFactory<Object, Object> consumers) {
            ConcurrentKafkaListenerContainerFactory<Object, Object> factory = factory(configurer, consumers);
            factory.setRecordFilterStrategy(new NamingFilter());
            return factory;
        }

        @Bean
        ConcurrentKafkaListenerContainerFactory<Object, Object> ownHandler(
                ConcurrentKafkaListenerContainerFactoryConfigurer configurer,
                ConsumerFactory<Object, Object> consumers) {
            ConcurrentKafkaListenerContainerFactory<Object, Object> factory = factory(configurer, consumers);
            factory.setRecordFilterStrategy(new NamingFilter());
            factory.setCommonErrorHandler(new DefaultErrorHandler(
                    (record, exception) -> this.recovered.add(String.valueOf(record.value())),
                    new FixedBackOff(10, MAX_ATTEMPTS - 1)));
            return factory;
        }

        @Bean
        ConcurrentKafkaListenerContainerFactory<Object, Object> intercepting(
                ConcurrentKafkaListenerContainerFactoryConfigurer configurer,
                ConsumerFactory<Object, Object> consumers) {
            ConcurrentKafkaListenerContainerFactory<Object, Object> factory = factory(configurer, consumers);
            factory.setBatchInterceptor(new NamingInterceptor());
            return factory;
        }

        @Bean
        ConcurrentKafkaListenerContainerFactory<Object, Object> reversing(
                ConcurrentKafkaListenerContainerFactoryConfigurer configurer,
                ConsumerFactory<Object, Object> consumers) {
            ConcurrentKafkaListenerContainerFactory<Object, Object> factory = factory(configurer, consumers);
            factory.setBatchInterceptor((records, consumer) -> {
                Deque<TopicPartition> partitions = new ArrayDeque<>();
                records.partitions().forEach(partitions::push);
                Map<TopicPartition, List<ConsumerRecord<Object, Object>>> reversed = new LinkedHashMap<>();
                partitions.forEach(partition -> reversed.put(partition, records.records(partition)));
                return new ConsumerRecords<>(reversed, Map.of());
            });
            return factory;
        }

        @Bean
        ConcurrentKafkaListenerContainerFactory<Object, Object> logging(
                ConcurrentKafkaListenerContainerFactoryConfigurer configurer,
                ConsumerFactory<Object, Object> consumers) {
            ConcurrentKafkaListenerContainerFactory<Object, Object> factory = factory(configurer, consumers);
            factory.setCommonErrorHandler(new CommonLoggingErrorHandler());
            return factory;
        }
    }

    static class NamingFilter implements RecordFilterStrategy<Object, Object> {

        @Override
        public boolean filter(ConsumerRecord<Object, Object> record) {
            return false;
        }

        @Override
        public List<ConsumerRecord<Object, Object>> filterBatch(List<ConsumerRecord<Object, Object>> records) {
            for (ConsumerRecord<Object, Object> record : records) {
                if (record.value().toString().startsWith("filter")) {
                    boolean last = record.value().toString().startsWith("filterLast");
                    throw new BatchListenerFailedException(
                            "by the filter", last ? after(records.get(records.size() - 1)) : record);
                }
            }
            return records;
        }

        private static ConsumerRecord<Object, Object> after(ConsumerRecord<Object, Object> record) {
            return new ConsumerRecord<>(record.topic(), record.partition(), record.offset() + 1, null, null);
        }
    }

    static class NamingInterceptor implements BatchInterceptor<Object, Object> {

        @Override
        public ConsumerRecords<Object, Object> intercept(
                ConsumerRecords<Object, Object> records, Consumer<Object, Object> consumer) {
            for (ConsumerRecord<Object, Object> record : records) {
                if (record.value().toString().startsWith("interceptor")) {
                    throw new BatchListenerFailedException("by the interceptor", record);
                }
            }
            Map<TopicPartition, List<ConsumerRecord<Object, Object>>> kept = new HashMap<>();
            for (ConsumerRecord<Object, Object> record : records) {
                if (!record.value().toString().startsWith("dropped")) {
                    kept.computeIfAbsent(
                                    new TopicPartition(record.topic(), record.partition()), key -> new ArrayList<>())
                            .add(record);
                }
            }
            return kept.isEmpty() ? null : new ConsumerRecords<>(kept, Map.of());
        }
    }

    static class OfKinds {

        private final Effects effects;
        private volatile String lastFatal = "";
        private volatile ConsumerRecord<String, String> earlier;

        OfKinds(Effects effects) {
            this.effects = effects;
        }

        @KafkaListener(
                id = "provided",
                topics = "provided${suffix}",
                groupId = "provided${suffix}",
                containerFactory = "filtering")
        @IdempotentListener("provided")
        void onProvided(List<ConsumerRecord<String, String>> records) {
            onBatch(records);
        }

        @KafkaListener(id = "own", topics = "own${suffix}", groupId = "own${suffix}", containerFactory = "ownHandler")
        @IdempotentListener("own")
        void onOwn(List<ConsumerRecord<String, String>> records) {
            onBatch(records);
        }

        @KafkaListener(
                id = "intercepted",
                topics = "intercepted${suffix}",
                groupId = "intercepted${suffix}",
                containerFactory = "intercepting")
        @IdempotentListener("intercepted")
        void onIntercepted(List<ConsumerRecord<String, String>> records) {
            onBatch(records);
        }

        @KafkaListener(
                id = "reversed",
                topics = "reversed${suffix}",
                groupId = "reversed${suffix}",
                containerFactory = "reversing")
        @IdempotentListener("reversed")
        void onReversed(List<ConsumerRecord<String, String>> records) {
            onBatch(records);
        }

        @KafkaListener(
                id = "logged",
                topics = "logged${suffix}",
                groupId = "logged${suffix}",
                containerFactory = "logging")
        @IdempotentListener("logged")
        void onLogged(List<ConsumerRecord<String, String>> records) {
            onBatch(records);
        }

        @KafkaListener(id = "records", topics = "records${suffix}", groupId = "records${suffix}")
        @IdempotentListener("records")
        void onRecord(String payload) {
            on(payload);
        }

        @KafkaListener(id = "polls", topics = "polls${suffix}", groupId = "polls${suffix}")
        @IdempotentListener(value = "polls", transactionPerPoll = "true")
        void onPoll(String payload) {
            on(payload);
        }

        private void on(String payload) {
            this.effects.happen(payload);
            if (payload.startsWith("memory") && !this.lastFatal.equals(payload)) {
                this.lastFatal = payload;
                throw new OutOfMemoryError("for the test");
            }
        }

        private void onBatch(List<ConsumerRecord<String, String>> records) {
            ConsumerRecord<String, String> last = records.get(records.size() - 1);
            for (ConsumerRecord<String, String> record : records) {
                on(record.value());
                IllegalStateException cause = new IllegalStateException(record.value());
                switch (record.value().split(" ")[0]) {
                    case "nestedIndex" ->
                        throw new BatchListenerFailedException(
                                "outer", new BatchListenerFailedException("inner", cause, records.size() - 1), 99);
                    case "nestedRecord" ->
                        throw new BatchListenerFailedException(
                                "outer", new BatchListenerFailedException("inner", cause, last), 99);
                    case "otherBatch" ->
                        throw new BatchListenerFailedException(
                                "outer", cause, (this.earlier != null) ? this.earlier : record);
                    default -> {}
                }
            }
            this.earlier = last;
        }
    }
}
