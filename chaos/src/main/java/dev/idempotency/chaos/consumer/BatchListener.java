package dev.idempotency.chaos.consumer;

import dev.idempotency.IdempotentListener;
import java.util.List;
import org.springframework.context.annotation.Profile;
import org.springframework.kafka.annotation.KafkaListener;
import org.springframework.stereotype.Component;

@Component
@Profile("batch")
class BatchListener {

    private final Effects effects;

    BatchListener(Effects effects) {
        this.effects = effects;
    }

    @KafkaListener(topics = ConsumerApplication.TOPIC, groupId = "batch", batch = "true")
    @IdempotentListener(consumer = "batch")
    void on(List<String> payloads) {
        this.effects.apply("batch", payloads);
    }
}
