package dev.idempotency.chaos.check;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.stream.Collectors;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AdminClientConfig;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.PartitionInfo;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.springframework.kafka.support.KafkaHeaders;

/** What the broker knows: how far groups are, and the dead letters. */
public final class Topics {

    private final String bootstrapServers;

    public Topics(String bootstrapServers) {
        this.bootstrapServers = bootstrapServers;
    }

    /** How many records of a topic groups have still to consume, all together. */
    public long lag(String topic, int partitions, Collection<String> groups)
            throws ExecutionException, InterruptedException {
        try (Admin admin = Admin.create(Map.of(AdminClientConfig.BOOTSTRAP_SERVERS_CONFIG, this.bootstrapServers))) {
            Map<TopicPartition, OffsetSpec> latest = new HashMap<>();
            for (int partition = 0; partition < partitions; partition++) {
                latest.put(new TopicPartition(topic, partition), OffsetSpec.latest());
            }
            var ends = admin.listOffsets(latest).all().get();
            long lag = 0;
            for (String group : groups) {
                Map<TopicPartition, OffsetAndMetadata> committed = admin.listConsumerGroupOffsets(group)
                        .partitionsToOffsetAndMetadata()
                        .get();
                for (TopicPartition partition : latest.keySet()) {
                    OffsetAndMetadata offset = committed.get(partition);
                    lag += ends.get(partition).offset() - ((offset != null) ? offset.offset() : 0);
                }
            }
            return lag;
        }
    }

    /** The ids in dead-letter topics, by the group that gave them up. */
    public Map<String, Set<String>> deadLetters(List<String> topics) {
        Map<String, Set<String>> ids = new HashMap<>();
        try (KafkaConsumer<String, String> consumer = new KafkaConsumer<>(
                Map.of(ConsumerConfig.BOOTSTRAP_SERVERS_CONFIG, this.bootstrapServers),
                new StringDeserializer(),
                new StringDeserializer())) {
            List<TopicPartition> partitions = topics.stream()
                    .flatMap(topic -> consumer.partitionsFor(topic).stream())
                    .map(Topics::partition)
                    .collect(Collectors.toList());
            Map<TopicPartition, Long> ends = consumer.endOffsets(partitions);
            consumer.assign(partitions);
            consumer.seekToBeginning(partitions);
            while (ends.entrySet().stream().anyMatch(end -> consumer.position(end.getKey()) < end.getValue())) {
                for (ConsumerRecord<String, String> record : consumer.poll(Duration.ofMillis(200))) {
                    ids.computeIfAbsent(
                                    header(record, KafkaHeaders.DLT_ORIGINAL_CONSUMER_GROUP), group -> new HashSet<>())
                            .add(header(record, "message-id"));
                }
            }
        }
        return ids;
    }

    private static TopicPartition partition(PartitionInfo info) {
        return new TopicPartition(info.topic(), info.partition());
    }

    private static String header(ConsumerRecord<?, ?> record, String name) {
        Header header = record.headers().lastHeader(name);
        return (header != null) ? new String(header.value(), StandardCharsets.UTF_8) : "";
    }
}
