package dev.idempotency.app;

import dev.idempotency.testing.TestKafka;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.Deserializer;
import org.apache.kafka.common.serialization.StringDeserializer;

/** Reads the records of a topic, from its beginning to its current end. */
public final class TopicContents {

    private TopicContents() {}

    /** All records of a topic of the tests' broker; none if there is no such topic. */
    public static List<ConsumerRecord<String, String>> of(String topic) {
        return of(TestKafka.bootstrapServers(), topic);
    }

    /** All records of a topic of the tests' broker, as bytes. */
    public static List<ConsumerRecord<byte[], byte[]>> inBytes(String topic) {
        return of(TestKafka.bootstrapServers(), topic, new ByteArrayDeserializer());
    }

    /** All records of a topic; none if there is no such topic. */
    public static List<ConsumerRecord<String, String>> of(String bootstrapServers, String topic) {
        return of(bootstrapServers, topic, new StringDeserializer());
    }

    private static <T> List<ConsumerRecord<T, T>> of(
            String bootstrapServers, String topic, Deserializer<T> deserializer) {
        Map<String, Object> configuration = new HashMap<>();
        configuration.put(ConsumerConfig.BOOTSTRAP_SERVERS_CONFIG, bootstrapServers);
        configuration.put(ConsumerConfig.ALLOW_AUTO_CREATE_TOPICS_CONFIG, false);
        configuration.put(ConsumerConfig.ENABLE_AUTO_COMMIT_CONFIG, false);
        List<ConsumerRecord<T, T>> contents = new ArrayList<>();
        try (KafkaConsumer<T, T> consumer = new KafkaConsumer<>(configuration, deserializer, deserializer)) {
            List<TopicPartition> partitions = consumer.listTopics().getOrDefault(topic, List.of()).stream()
                    .map(partition -> new TopicPartition(topic, partition.partition()))
                    .toList();
            if (partitions.isEmpty()) {
                return contents;
            }
            consumer.assign(partitions);
            Map<TopicPartition, Long> ends = consumer.endOffsets(partitions);
            consumer.seekToBeginning(partitions);
            while (partitions.stream()
                    .anyMatch(
                            partition -> consumer.position(partition) < Objects.requireNonNull(ends.get(partition)))) {
                consumer.poll(Duration.ofMillis(200)).forEach(contents::add);
            }
        }
        return contents;
    }

    /** The values of all records of a topic of the tests' broker. */
    public static List<String> values(String topic) {
        return of(topic).stream().map(ConsumerRecord::value).toList();
    }
}
