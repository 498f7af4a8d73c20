package dev.idempotency.internal.failure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.idempotency.app.Effects;
import dev.idempotency.app.HasEffects;
import dev.idempotency.app.OfKind;
import dev.idempotency.app.SharedApplicationTest;
import dev.idempotency.app.SharedApplicationTest.ContainerFactory;
import dev.idempotency.app.TopicContents;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.kafka.listener.BatchInterceptor;
import org.springframework.kafka.listener.BatchListenerFailedException;
import org.springframework.kafka.listener.CommonLoggingErrorHandler;
import org.springframework.util.Assert;

/** Interceptors that drop records, fail at some or change their order: only records that fail are given up. */
class InterceptedBatchesIT extends SharedApplicationTest {

    @BeforeAll
    void start() {
        createTopics(2, "provided", "logged", "records");
        start(Application.class, "idempotency.errors.max-attempts=3");
    }

    /** Sends payloads to both partitions in turn, to be polled together. */
    private void sendTogether(String kind, String... payloads) {
        containerOf(kind).pause();
        await().until(() -> containerOf(kind).isContainerPaused());
        for (int i = 0; i < payloads.length; i++) {
            sendTo(kind, i % 2, payloads[i]);
        }
        containerOf(kind).resume();
    }

    private List<String> givenUp(String kind) {
        return TopicContents.values(topic(kind) + "-dlt");
    }

    @ParameterizedTest
    @ValueSource(strings = {"fails", "interceptor"})
    void noMessageIsLostWhereverOneFails(String failure) {
        String culprit = failure + " provided";
        List<String> others = Stream.of("1 ", "2 ", "3 ", "5 ", "6 ", "7 ")
                .map(i -> i + culprit)
                .toList();
        List<String> all = new ArrayList<>(others);
        all.add(3, culprit);
        sendTogether("provided", all.toArray(String[]::new));
        awaitCaughtUp("provided");
        List<String> effects = this.app.bean(Effects.class).all();
        List<String> givenUp = givenUp("provided");
        assertThat(others).allSatisfy(other -> assertThat(
                        Stream.concat(effects.stream(), givenUp.stream()).filter(other::equals))
                .hasSize(1));
        assertThat(givenUp).containsOnlyOnce(culprit);
        assertThat(effects).doesNotContain(culprit);
        if (!failure.equals("interceptor")) {
            assertThat(effects).containsAll(others);
        }
    }

    @Test
    void anErrorHandlerThatOnlyLogsSkipsNoMessageButTheOneThatFails() {
        sendTogether("logged", "1 logged", "fails logged", "3 logged", "4 logged");
        awaitCaughtUp("logged");
        assertThat(this.app.bean(Effects.class).all())
                .containsOnlyOnce("1 logged", "3 logged", "4 logged")
                .doesNotContain("fails logged");
    }

    @Test
    void aMessageThatAnInterceptorDropsIsNotGivenUpForAnother() {
        sendTogether("provided", "dropped 1", "dropped 2", "fails dropped", "dropped 3", "dropped 4");
        awaitCaughtUp("provided");
        assertThat(givenUp("provided"))
                .containsOnlyOnce("fails dropped")
                .noneMatch(payload -> payload.startsWith("dropped"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"provided", "records"})
    void anErrorThatNothingCanBeReliedUponAfterStopsTheContainerAndLosesNothing(String kind) {
        String payload = "memory " + kind;
        String[] all = {"1 " + payload, "2 " + payload, payload, "4 " + payload};
        sendTogether(kind, all);
        await().until(() -> !containerOf(kind).isChildRunning());
        containerOf(kind).stop();
        containerOf(kind).start();
        awaitCaughtUp(kind);
        assertThat(this.app.bean(Effects.class).all()).containsOnlyOnce(all);
        assertThat(givenUp(kind)).doesNotContain(all);
    }

    @Configuration(proxyBeanMethods = false)
    @Import(Listeners.class)
    static class Application {

        @Bean
        ContainerFactory provided(ContainerFactory plain) {
            return plain.with(factory -> factory.setBatchInterceptor(new NamingInterceptor()));
        }

        @Bean
        ContainerFactory logging(ContainerFactory plain) {
            return provided(plain).with(factory -> factory.setCommonErrorHandler(new CommonLoggingErrorHandler()));
        }
    }

    /** Drops some records, fails at others, and changes the order of partitions. */
    static class NamingInterceptor implements BatchInterceptor<Object, Object> {

        @Override
        public ConsumerRecords<Object, Object> intercept(
                ConsumerRecords<Object, Object> records, Consumer<Object, Object> consumer) {
            List<TopicPartition> partitions = new ArrayList<>(records.partitions());
            Collections.reverse(partitions);
            Map<TopicPartition, List<ConsumerRecord<Object, Object>>> kept = new LinkedHashMap<>();
            for (TopicPartition partition : partitions) {
                for (ConsumerRecord<Object, Object> record : records.records(partition)) {
                    if (record.value().toString().startsWith("interceptor")) {
                        throw new BatchListenerFailedException("by the interceptor", record);
                    }
                    if (!record.value().toString().startsWith("dropped")) {
                        kept.computeIfAbsent(partition, key -> new ArrayList<>())
                                .add(record);
                    }
                }
            }
            return kept.isEmpty() ? null : new ConsumerRecords<>(kept, Map.of());
        }
    }

    static class Listeners extends HasEffects {

        private volatile String lastFatal = "";

        @OfKind(value = "provided", batch = "true", containerFactory = "provided")
        void provided(List<String> payloads) {
            payloads.forEach(this::on);
        }

        @OfKind(value = "logged", batch = "true", containerFactory = "logging")
        void logged(List<String> payloads) {
            payloads.forEach(this::on);
        }

        @OfKind("records")
        void on(String payload) {
            this.effects.happen(payload);
            if (payload.startsWith("memory") && !this.lastFatal.equals(payload)) {
                this.lastFatal = payload;
                throw new OutOfMemoryError("for the test");
            }
            Assert.state(!payload.startsWith("fails"), payload);
        }
    }
}
