package dev.idempotency.chaos.consumer;

import dev.idempotency.DeduplicationStrategy;
import dev.idempotency.IdempotentListener;
import java.util.List;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.springframework.context.annotation.Profile;
import org.springframework.kafka.annotation.KafkaListener;
import org.springframework.stereotype.Component;

@Component
@Profile("offset")
class OffsetListener {

    private final Effects effects;

    OffsetListener(Effects effects) {
        this.effects = effects;
    }

    @KafkaListener(topics = ConsumerApplication.TOPIC, groupId = "offset")
    @IdempotentListener(consumer = "offset", strategy = DeduplicationStrategy.OFFSET)
    void on(ConsumerRecord<String, String> record) {
        this.effects.applyRecords("offset", List.of(record));
    }
}
