package dev.idempotency.sample.mishap;

import dev.idempotency.sample.payment.PaymentTopic;
import java.util.Collection;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ExecutionException;
import java.util.stream.Collectors;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;
import org.springframework.context.Lifecycle;
import org.springframework.kafka.listener.MessageListenerContainer;
import org.springframework.stereotype.Component;

/**
 * Makes every group read the payments again from the beginning, like an operator with
 * {@code kafka-consumer-groups --reset-offsets --to-earliest}.
 */
@Component
public class Rewind {

    private final PaymentTopic topic;
    private final Admin admin;

    Rewind(PaymentTopic topic, Admin admin) {
        this.topic = topic;
        this.admin = admin;
    }

    /** Stops the listeners, resets their offsets, and restarts them. */
    public synchronized void toTheBeginning() throws InterruptedException {
        Collection<MessageListenerContainer> containers = this.topic.containers();
        // The offsets of a group can only be changed while it has no members.
        containers.forEach(Lifecycle::stop);
        try {
            Map<TopicPartition, OffsetAndMetadata> beginning =
                    this.topic.offsets(OffsetSpec.earliest()).entrySet().stream()
                            .collect(Collectors.toMap(
                                    Map.Entry::getKey, entry -> new OffsetAndMetadata(entry.getValue())));
            for (MessageListenerContainer container : containers) {
                String group = Objects.requireNonNull(container.getGroupId());
                this.admin.alterConsumerGroupOffsets(group, beginning).all().get();
            }
        } catch (ExecutionException ex) {
            throw new IllegalStateException(
                    "The topic could not be rewound. Does another instance of this application consume it?",
                    ex.getCause());
        } finally {
            containers.forEach(Lifecycle::start);
        }
    }
}
