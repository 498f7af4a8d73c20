package dev.idempotency.test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.idempotency.test.TestedApplication.Effects;
import dev.idempotency.testing.TestKafka;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.kafka.core.KafkaTemplate;
import org.springframework.test.context.DynamicPropertyRegistry;
import org.springframework.test.context.DynamicPropertySource;

/** An application with a real broker, whose protected listeners receive every record twice. */
@DeliverTwice
@SpringBootTest(
        classes = TestedApplication.class,
        properties = {
            "spring.kafka.consumer.auto-offset-reset=earliest",
            "idempotency.errors.initial-interval=10ms",
            "idempotency.errors.max-attempts=4",
            "idempotency.checks.relaxed=unstable-key",
            "idempotency.test.random-order=true"
        })
class DeliverTwiceIT {

    private static final String topic = TestKafka.createTopic("twice", 1);

    @Autowired
    private IdempotencyTester tester;

    @Autowired
    private Effects effects;

    @Autowired
    private KafkaTemplate<String, String> kafka;

    @DynamicPropertySource
    static void properties(DynamicPropertyRegistry registry) {
        TestKafka.createTopics(1, topic + "-orders", topic + "-odd");
        registry.add("spring.kafka.bootstrap-servers", TestKafka::bootstrapServers);
        registry.add("tested.topic", () -> topic);
    }

    @Test
    void everyRecordAndEveryBatchOfProtectedListenersComesTwiceAndOthersAreNotTouched() {
        List<String> ids = IntStream.range(0, 20).mapToObj("id-%02d"::formatted).toList();
        ids.forEach(id -> send(topic, id));

        await().atMost(Duration.ofSeconds(60)).untilAsserted(() -> {
            for (String consumer : List.of("ledger", "batch", "poll")) {
                assertThat(this.tester.consumer(consumer)).hasDropped(ids.size());
                assertThat(this.tester.consumer(consumer).processed()).containsExactlyElementsOf(ids);
                assertThat(this.tester.consumer(consumer).dropped()).containsExactlyInAnyOrderElementsOf(ids);
            }
        });
        assertThat(this.effects.of("ledger")).containsExactlyElementsOf(ids);
        assertThat(this.effects.of("batch")).containsExactlyElementsOf(ids);
        assertThat(this.effects.of("poll")).containsExactlyElementsOf(ids);
        await().atMost(Duration.ofSeconds(60)).untilAsserted(() -> {
            assertThat(committed("ledger")).isEqualTo(ids.size());
            assertThat(committed("unprotected")).isEqualTo(ids.size());
        });
        assertThat(this.effects.of("unprotected")).containsExactlyElementsOf(ids);
    }

    @Test
    void whatIsNotIdempotentIsFoundAndAMessageThatFailsIsNotDeliveredForEver() {
        send(topic + "-odd", "one");
        send(topic + "-odd", "poison-two");
        send(topic + "-odd", "three");

        await().atMost(Duration.ofSeconds(60)).untilAsserted(() -> {
            assertThat(this.effects.of("random"))
                    .containsExactly("one", "one", "poison-two", "poison-two", "three", "three");
            assertThat(this.effects.of("failing")).containsExactly("one", "three");
            assertThat(this.tester.consumer("failing").outcomes().deadLettered).hasSize(2);
            assertThat(this.tester.consumer("failing").dropped()).contains("one", "three");
        });
    }

    private long committed(String group) throws Exception {
        OffsetAndMetadata offset = TestKafka.sharedAdmin()
                .listConsumerGroupOffsets(group)
                .partitionsToOffsetAndMetadata()
                .get(30, TimeUnit.SECONDS)
                .get(new TopicPartition(topic, 0));
        return (offset != null) ? offset.offset() : -1;
    }

    private void send(String to, String id) {
        ProducerRecord<String, String> record = new ProducerRecord<>(to, id);
        record.headers().add("message-id", id.getBytes(StandardCharsets.UTF_8));
        this.kafka.send(record).join();
    }
}
