package dev.idempotency.chaos.consumer;

import dev.idempotency.IdempotentListener;
import org.springframework.context.annotation.Profile;
import org.springframework.kafka.annotation.KafkaListener;
import org.springframework.stereotype.Component;

@Component
@Profile("poll")
class PollListener {

    private final Effects effects;

    PollListener(Effects effects) {
        this.effects = effects;
    }

    @KafkaListener(topics = ConsumerApplication.TOPIC, groupId = "poll")
    @IdempotentListener(consumer = "poll", transactionPerPoll = "true")
    void on(String payload) {
        this.effects.apply("poll", payload);
    }
}
