package dev.idempotency.chaos.consumer;

import dev.idempotency.DeduplicationStrategy;
import dev.idempotency.IdempotentListener;
import java.util.List;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.springframework.context.annotation.Profile;
import org.springframework.kafka.annotation.KafkaListener;
import org.springframework.stereotype.Component;

@Component
@Profile("offset-batch")
class OffsetBatchListener {

    private final Effects effects;

    OffsetBatchListener(Effects effects) {
        this.effects = effects;
    }

    @KafkaListener(topics = ConsumerApplication.TOPIC, groupId = "offset-batch", batch = "true")
    @IdempotentListener(consumer = "offset-batch", strategy = DeduplicationStrategy.OFFSET)
    void on(List<ConsumerRecord<String, String>> records) {
        this.effects.applyRecords("offset-batch", records);
    }
}
