package dev.idempotency.chaos.check;

import dev.idempotency.UnknownOutcomeException;
import dev.idempotency.chaos.MessageKind;
import dev.idempotency.chaos.RecordId;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.function.Consumer;
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

/** Reads the positions of groups and the dead letters from the broker. */
public final class Topics {

    private final String bootstrapServers;

    public Topics(String bootstrapServers) {
        this.bootstrapServers = bootstrapServers;
    }

    /**
     * The progress of groups.
     *
     * @param lag the total number of records that they have not consumed yet
     * @param ends the end offsets of the topic's partitions
     */
    public record Progress(long lag, Map<TopicPartition, Long> ends) {}

    /** Returns the progress of groups with a topic. */
    public Progress progress(String topic, int partitions, Collection<String> groups)
            throws ExecutionException, InterruptedException {
        try (Admin admin = Admin.create(Map.of(AdminClientConfig.BOOTSTRAP_SERVERS_CONFIG, this.bootstrapServers))) {
            Map<TopicPartition, OffsetSpec> latest = new HashMap<>();
            for (int partition = 0; partition < partitions; partition++) {
                latest.put(new TopicPartition(topic, partition), OffsetSpec.latest());
            }
            Map<TopicPartition, Long> ends = new HashMap<>();
            admin.listOffsets(latest).all().get().forEach((partition, end) -> ends.put(partition, end.offset()));
            long lag = 0;
            for (String group : groups) {
                Map<TopicPartition, OffsetAndMetadata> committed = admin.listConsumerGroupOffsets(group)
                        .partitionsToOffsetAndMetadata()
                        .get();
                for (TopicPartition partition : latest.keySet()) {
                    OffsetAndMetadata offset = committed.get(partition);
                    lag += Math.max(0, ends.get(partition) - ((offset != null) ? offset.offset() : 0));
                }
            }
            return new Progress(lag, ends);
        }
    }

    /**
     * Returns the ids in dead-letter topics by group: ids of messages, or, for groups that distinguish records, ids of records
     * before the given ends.
     */
    public Map<String, Set<String>> deadLetters(List<String> topics, Map<TopicPartition, Long> ends) {
        Map<String, Set<String>> ids = new HashMap<>();
        read(topics, Map.of(), record -> {
            String group = header(record, KafkaHeaders.DLT_ORIGINAL_CONSUMER_GROUP);
            Set<String> ofGroup = ids.computeIfAbsent(group, any -> new HashSet<>());
            if (!group.startsWith("offset")) {
                ofGroup.add(RecordId.numberOf(header(record, "message-id")));
                return;
            }
            TopicPartition partition = new TopicPartition(
                    header(record, KafkaHeaders.DLT_ORIGINAL_TOPIC),
                    bytes(record, KafkaHeaders.DLT_ORIGINAL_PARTITION).getInt());
            long offset = bytes(record, KafkaHeaders.DLT_ORIGINAL_OFFSET).getLong();
            if (offset < ends.get(partition)) {
                ofGroup.add(RecordId.of(partition.partition(), offset));
            }
        });
        return ids;
    }

    /** Returns the ids of messages that were dead-lettered because the outcome of a step is unknown. */
    public Set<String> unknownOutcomes(String topic) {
        Set<String> ids = new HashSet<>();
        read(List.of(topic), Map.of(), record -> {
            if (header(record, KafkaHeaders.DLT_EXCEPTION_CAUSE_FQCN).equals(UnknownOutcomeException.class.getName())) {
                ids.add(RecordId.numberOf(header(record, "message-id")));
            }
        });
        return ids;
    }

    /** Returns the kinds of the messages in a topic, up to the given ends, by {@link RecordId}. */
    public Map<String, MessageKind> records(String topic, Map<TopicPartition, Long> ends) {
        Map<String, MessageKind> kinds = new HashMap<>();
        read(
                List.of(topic),
                ends,
                record -> kinds.put(
                        RecordId.of(record.partition(), record.offset()), MessageKind.ofPayload(record.value())));
        return kinds;
    }

    private void read(
            List<String> topics, Map<TopicPartition, Long> upTo, Consumer<ConsumerRecord<String, String>> reader) {
        try (KafkaConsumer<String, String> consumer = new KafkaConsumer<>(
                Map.of(ConsumerConfig.BOOTSTRAP_SERVERS_CONFIG, this.bootstrapServers),
                new StringDeserializer(),
                new StringDeserializer())) {
            List<TopicPartition> partitions = topics.stream()
                    .flatMap(topic -> consumer.partitionsFor(topic).stream())
                    .map(Topics::partition)
                    .collect(Collectors.toList());
            Map<TopicPartition, Long> ends = new HashMap<>(consumer.endOffsets(partitions));
            ends.putAll(upTo);
            consumer.assign(partitions);
            consumer.seekToBeginning(partitions);
            while (ends.entrySet().stream().anyMatch(end -> consumer.position(end.getKey()) < end.getValue())) {
                for (ConsumerRecord<String, String> record : consumer.poll(Duration.ofMillis(200))) {
                    if (record.offset() < ends.get(new TopicPartition(record.topic(), record.partition()))) {
                        reader.accept(record);
                    }
                }
            }
        }
    }

    private static ByteBuffer bytes(ConsumerRecord<?, ?> record, String header) {
        return ByteBuffer.wrap(record.headers().lastHeader(header).value());
    }

    private static TopicPartition partition(PartitionInfo info) {
        return new TopicPartition(info.topic(), info.partition());
    }

    private static String header(ConsumerRecord<?, ?> record, String name) {
        Header header = record.headers().lastHeader(name);
        return (header != null) ? new String(header.value(), StandardCharsets.UTF_8) : "";
    }
}
