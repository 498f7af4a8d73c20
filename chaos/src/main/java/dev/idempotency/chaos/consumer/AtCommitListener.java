package dev.idempotency.chaos.consumer;

import dev.idempotency.IdempotentListener;
import org.springframework.context.annotation.Profile;
import org.springframework.kafka.annotation.KafkaListener;
import org.springframework.stereotype.Component;

@Component
@Profile("at-commit")
class AtCommitListener {

    private final Effects effects;

    AtCommitListener(Effects effects) {
        this.effects = effects;
    }

    @KafkaListener(topics = ConsumerApplication.TOPIC, groupId = "at-commit")
    @IdempotentListener(consumer = "at-commit", claimAtCommit = "true")
    void on(String payload) {
        this.effects.apply("at-commit", payload);
    }
}
