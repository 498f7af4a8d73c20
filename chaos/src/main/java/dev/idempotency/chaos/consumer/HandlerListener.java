package dev.idempotency.chaos.consumer;

import dev.idempotency.IdempotentListener;
import org.springframework.context.annotation.Profile;
import org.springframework.kafka.annotation.KafkaListener;
import org.springframework.stereotype.Component;

@Component
@Profile("handler")
class HandlerListener {

    private final Effects effects;

    HandlerListener(Effects effects) {
        this.effects = effects;
    }

    @KafkaListener(topics = ConsumerApplication.TOPIC, groupId = "handler", containerFactory = "ownErrorHandlerFactory")
    @IdempotentListener(consumer = "handler")
    void on(String payload) {
        this.effects.apply("handler", payload);
    }
}
