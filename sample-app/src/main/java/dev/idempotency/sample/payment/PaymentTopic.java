package dev.idempotency.sample.payment;

import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.stream.Collectors;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.common.TopicPartition;
import org.springframework.kafka.config.KafkaListenerEndpointRegistry;
import org.springframework.kafka.listener.MessageListenerContainer;
import org.springframework.stereotype.Component;
import org.springframework.util.ObjectUtils;

/** The topic of payments: the offsets of its partitions, and its listeners. */
@Component
public class PaymentTopic {

    private final KafkaListenerEndpointRegistry listeners;
    private final Admin admin;

    PaymentTopic(KafkaListenerEndpointRegistry listeners, Admin admin) {
        this.listeners = listeners;
        this.admin = admin;
    }

    /** Returns the containers of its listeners, without retry topics. */
    public Collection<MessageListenerContainer> containers() {
        return this.listeners.getListenerContainersMatching((id, container) ->
                ObjectUtils.containsElement(container.getContainerProperties().getTopics(), Payment.TOPIC));
    }

    /** Returns the first or the end offset of each partition. */
    public Map<TopicPartition, Long> offsets(OffsetSpec spec) throws ExecutionException, InterruptedException {
        Map<TopicPartition, OffsetSpec> partitions = this.admin
                .describeTopics(List.of(Payment.TOPIC))
                .allTopicNames()
                .get()
                .get(Payment.TOPIC)
                .partitions()
                .stream()
                .collect(Collectors.toMap(info -> new TopicPartition(Payment.TOPIC, info.partition()), info -> spec));
        return this.admin.listOffsets(partitions).all().get().entrySet().stream()
                .collect(Collectors.toMap(
                        Map.Entry::getKey, entry -> entry.getValue().offset()));
    }
}
