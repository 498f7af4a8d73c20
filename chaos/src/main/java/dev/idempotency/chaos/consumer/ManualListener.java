package dev.idempotency.chaos.consumer;

import dev.idempotency.IdempotentListener;
import org.springframework.context.annotation.Profile;
import org.springframework.kafka.annotation.KafkaListener;
import org.springframework.kafka.support.Acknowledgment;
import org.springframework.stereotype.Component;

@Component
@Profile("manual")
class ManualListener {

    private final Effects effects;

    ManualListener(Effects effects) {
        this.effects = effects;
    }

    @KafkaListener(topics = ConsumerApplication.TOPIC, groupId = "manual", ackMode = "MANUAL")
    @IdempotentListener(consumer = "manual")
    void on(String payload, Acknowledgment acknowledgment) {
        this.effects.apply("manual", payload);
        acknowledgment.acknowledge();
    }
}
