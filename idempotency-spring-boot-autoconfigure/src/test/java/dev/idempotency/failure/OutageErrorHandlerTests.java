package dev.idempotency.failure;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.observe.ConsumerObserver;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.MockConsumer;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.kafka.core.DefaultKafkaConsumerFactory;
import org.springframework.kafka.listener.ContainerProperties;
import org.springframework.kafka.listener.DefaultErrorHandler;
import org.springframework.kafka.listener.KafkaMessageListenerContainer;
import org.springframework.kafka.listener.MessageListenerContainer;
import org.springframework.util.backoff.FixedBackOff;

class OutageErrorHandlerTests {

    private final MessageListenerContainer container = new KafkaMessageListenerContainer<>(
            new DefaultKafkaConsumerFactory<>(Map.of()), new ContainerProperties("topic"));

    /** The container commits what comes before the first of them: in another order, records that are to come again. */
    @ParameterizedTest
    @CsvSource({"0, 1", "1, 0"})
    void whatIsLeftOverOfABatchIsInItsOrder(int first, int second) {
        Map<TopicPartition, List<ConsumerRecord<String, String>>> batch = new LinkedHashMap<>();
        for (int partition : List.of(first, second)) {
            batch.put(
                    new TopicPartition("topic", partition),
                    List.of(
                            new ConsumerRecord<>("topic", partition, 5, null, "a"),
                            new ConsumerRecord<>("topic", partition, 6, null, "b")));
        }
        ConsumerRecord<String, String> failed =
                batch.get(new TopicPartition("topic", first)).get(1);
        ConsumerRecords<String, String> remaining = handler()
                .handleBatchAndReturnRemaining(
                        NamedFailure.at(failed, "on purpose", null),
                        new ConsumerRecords<>(batch, Map.of()),
                        consumer(batch),
                        this.container,
                        () -> {});
        assertThat(remaining)
                .extracting(ConsumerRecord::partition, ConsumerRecord::offset)
                .map(Object::toString)
                .containsExactly(
                        "(%d, 6L)".formatted(first), "(%d, 5L)".formatted(second), "(%d, 6L)".formatted(second));
    }

    private static MockConsumer<String, String> consumer(
            Map<TopicPartition, List<ConsumerRecord<String, String>>> batch) {
        MockConsumer<String, String> consumer = new MockConsumer<>("earliest");
        consumer.assign(batch.keySet());
        return consumer;
    }

    private static OutageErrorHandler handler() {
        DefaultErrorHandler applications = new DefaultErrorHandler(new FixedBackOff(0, 9));
        applications.setSeekAfterError(false);
        BackOffSettings retries = new BackOffSettings(Duration.ofMillis(1), 1, Duration.ofMillis(1), 3);
        Outage outage = new Outage("consumer", new DatabaseFailureClassifier(), retries, () -> true);
        return new OutageErrorHandler(
                applications, new ContainerSuspension(outage, new ConsumerPauses(), ConsumerObserver.NO_OP), false);
    }
}
