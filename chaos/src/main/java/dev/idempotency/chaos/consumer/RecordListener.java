package dev.idempotency.chaos.consumer;

import dev.idempotency.IdempotentListener;
import org.springframework.context.annotation.Profile;
import org.springframework.kafka.annotation.KafkaListener;
import org.springframework.stereotype.Component;

@Component
@Profile("record")
class RecordListener {

    private final Effects effects;

    RecordListener(Effects effects) {
        this.effects = effects;
    }

    @KafkaListener(topics = ConsumerApplication.TOPIC, groupId = "record")
    @IdempotentListener(consumer = "record")
    void on(String payload) {
        this.effects.apply("record", payload);
    }
}
