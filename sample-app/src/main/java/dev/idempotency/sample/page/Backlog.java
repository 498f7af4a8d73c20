package dev.idempotency.sample.page;

import dev.idempotency.sample.payment.PaymentTopic;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ExecutionException;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.ListConsumerGroupOffsetsSpec;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;
import org.springframework.kafka.listener.MessageListenerContainer;
import org.springframework.stereotype.Component;

/** The backlog of the listeners of payments: records whose offsets they have not committed. */
@Component
class Backlog {

    private final PaymentTopic topic;
    private final Admin admin;

    Backlog(PaymentTopic topic, Admin admin) {
        this.topic = topic;
        this.admin = admin;
    }

    /** Returns the number of waiting records, summed over all groups. */
    long records() throws InterruptedException {
        try {
            Map<TopicPartition, Long> ends = this.topic.offsets(OffsetSpec.latest());
            return committed().values().stream()
                    .mapToLong(offsets -> waiting(ends, offsets))
                    .sum();
        } catch (ExecutionException ex) {
            throw new IllegalStateException("Kafka does not tell the offsets of its groups", ex.getCause());
        }
    }

    private static long waiting(Map<TopicPartition, Long> ends, Map<TopicPartition, OffsetAndMetadata> offsets) {
        return ends.entrySet().stream()
                .mapToLong(end -> {
                    OffsetAndMetadata committed = offsets.get(end.getKey());
                    return end.getValue() - ((committed != null) ? committed.offset() : 0);
                })
                .sum();
    }

    private Map<String, Map<TopicPartition, OffsetAndMetadata>> committed()
            throws ExecutionException, InterruptedException {
        Map<String, ListConsumerGroupOffsetsSpec> groups = this.topic.containers().stream()
                .map(MessageListenerContainer::getGroupId)
                .map(Objects::requireNonNull)
                .collect(Collectors.toMap(Function.identity(), group -> new ListConsumerGroupOffsetsSpec()));
        return this.admin.listConsumerGroupOffsets(groups).all().get();
    }
}
