package dev.idempotency.chaos.consumer;

import dev.idempotency.DeduplicationStrategy;
import dev.idempotency.IdempotentListener;
import org.springframework.context.annotation.Profile;
import org.springframework.kafka.annotation.KafkaListener;
import org.springframework.stereotype.Component;

@Component
@Profile("version-poll")
class VersionPollListener {

    private final Effects effects;

    VersionPollListener(Effects effects) {
        this.effects = effects;
    }

    @KafkaListener(topics = ConsumerApplication.TOPIC, groupId = "version-poll")
    @IdempotentListener(
            consumer = "version-poll",
            strategy = DeduplicationStrategy.VERSION,
            key = "#headers['entity']",
            version = "#headers['version']",
            transactionPerPoll = "true")
    void on(String payload) {
        this.effects.apply("version-poll", payload);
    }
}
