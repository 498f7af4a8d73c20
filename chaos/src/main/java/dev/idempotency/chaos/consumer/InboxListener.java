package dev.idempotency.chaos.consumer;

import dev.idempotency.IdempotentListener;
import org.springframework.context.annotation.Profile;
import org.springframework.kafka.annotation.KafkaListener;
import org.springframework.stereotype.Component;

@Component
@Profile("inbox")
class InboxListener {

    private final Effects effects;

    InboxListener(Effects effects) {
        this.effects = effects;
    }

    @KafkaListener(topics = ConsumerApplication.TOPIC, groupId = "inbox")
    @IdempotentListener(consumer = "inbox", inbox = "true")
    void on(String payload) {
        this.effects.apply("inbox", payload);
    }
}
