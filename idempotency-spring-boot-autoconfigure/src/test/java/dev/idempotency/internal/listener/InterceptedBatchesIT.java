package dev.idempotency.internal.listener;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.idempotency.IdempotentListener;
import dev.idempotency.app.SharedApplicationTest.ContainerFactory;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.context.annotation.Bean;
import org.springframework.kafka.listener.BatchListenerFailedException;
import org.springframework.kafka.listener.CommonLoggingErrorHandler;

/** Interceptors that drop records, fail at some or change their order: only records that fail are dead-lettered. */
@ListenersTest.Application(beans = InterceptedBatchesIT.Factories.class, partitions = 2)
class InterceptedBatchesIT extends ListenersTest {

    /** An error handler that only logs skips the failed record. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            Provided | 1:a 2:b 3:c 4:fails 5:e 6:f 7:g                    | a b c e f g | fails
            Dropping | 1:dropped 2:dropped 3:fails 4:dropped 5:dropped    |                   | fails
            Logged   | 1:a 2:fails 3:c 4:d                                | a c d             |
            Reversed | 1:a 2:b 3:fails 4:d 5:e                            | a b d e           | fails
            """)
    void onlyTheMessageThatFailsIsGivenUp(String name, String messages, String effects, String givenUp) {
        assertDelivered(name, messages, effects, givenUp);
    }

    @Test
    void noMessageIsLostWhereTheInterceptorFails() {
        deliver(Interrupted.class, "1:a", "2:b", "3:c", "4:interceptor", "5:e", "6:f", "7:g");
        List<String> all = new ArrayList<>(givenUp(Interrupted.class));
        assertThat(all).contains("interceptor");
        all.addAll(effects(Interrupted.class));
        assertThat(all).containsExactlyInAnyOrder("a", "b", "c", "interceptor", "e", "f", "g");
    }

    @ParameterizedTest
    @ValueSource(classes = {ExhaustedBatches.class, ExhaustedRecords.class})
    void anErrorThatNothingCanBeReliedUponAfterStopsTheContainerAndLosesNothing(Class<? extends Listener> listener) {
        send(listener, "1:a", "2:b", "3:exhausts-once", "4:d");
        startContainers(listener);
        await().until(() -> !containerOf(topic(listener)).isChildRunning());
        stopListeners();
        deliver(listener);
        assertThat(effects(listener)).containsExactly("a", "b", "d", "exhausts-once");
        assertThat(givenUp(listener)).isEmpty();
    }

    @Container(factory = "intercepted")
    @IdempotentListener
    static class Provided extends OfBatches {}

    @Container(factory = "intercepted")
    @IdempotentListener
    static class Dropping extends OfBatches {}

    @Container(factory = "intercepted")
    @IdempotentListener
    static class Interrupted extends OfBatches {}

    @Container(factory = "logging")
    @IdempotentListener
    static class Logged extends OfBatches {}

    @Container(factory = "reversing")
    @IdempotentListener
    static class Reversed extends OfBatches {}

    @Container(factory = "intercepted")
    @IdempotentListener
    static class ExhaustedBatches extends OfBatches {}

    @IdempotentListener
    static class ExhaustedRecords extends OfRecords {}

    static class Factories {

        @Bean
        static ContainerFactory intercepted(ContainerFactory plain) {
            return plain.with(factory -> factory.setBatchInterceptor((records, consumer) -> intercept(records)));
        }

        @Bean
        static ContainerFactory logging(ContainerFactory plain) {
            return intercepted(plain).with(factory -> factory.setCommonErrorHandler(new CommonLoggingErrorHandler()));
        }

        /** Against the documentation. */
        @Bean
        static ContainerFactory reversing(ContainerFactory plain) {
            return plain.with(factory -> factory.setBatchInterceptor((records, consumer) -> {
                Map<TopicPartition, List<ConsumerRecord<Object, Object>>> reversed = new LinkedHashMap<>();
                for (TopicPartition partition : records.partitions()) {
                    List<ConsumerRecord<Object, Object>> some = new ArrayList<>(records.records(partition));
                    Collections.reverse(some);
                    reversed.put(partition, some);
                }
                return new ConsumerRecords<>(reversed, Map.of());
            }));
        }

        /** Drops some records, fails at others, and reverses the order of partitions. */
        private static ConsumerRecords<Object, Object> intercept(ConsumerRecords<Object, Object> records) {
            List<TopicPartition> partitions = new ArrayList<>(records.partitions());
            Collections.reverse(partitions);
            Map<TopicPartition, List<ConsumerRecord<Object, Object>>> kept = new LinkedHashMap<>();
            for (TopicPartition partition : partitions) {
                for (ConsumerRecord<Object, Object> record : records.records(partition)) {
                    if (record.value().equals("interceptor")) {
                        throw new BatchListenerFailedException("by the interceptor", record);
                    }
                    if (!record.value().equals("dropped")) {
                        kept.computeIfAbsent(partition, key -> new ArrayList<>())
                                .add(record);
                    }
                }
            }
            return kept.isEmpty() ? null : new ConsumerRecords<>(kept, Map.of());
        }
    }
}
