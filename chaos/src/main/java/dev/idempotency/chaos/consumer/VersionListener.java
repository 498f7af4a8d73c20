package dev.idempotency.chaos.consumer;

import dev.idempotency.DeduplicationStrategy;
import dev.idempotency.IdempotentListener;
import org.springframework.context.annotation.Profile;
import org.springframework.kafka.annotation.KafkaListener;
import org.springframework.stereotype.Component;

@Component
@Profile("version")
class VersionListener {

    private final Effects effects;

    VersionListener(Effects effects) {
        this.effects = effects;
    }

    @KafkaListener(topics = ConsumerApplication.TOPIC, groupId = "version")
    @IdempotentListener(
            consumer = "version",
            strategy = DeduplicationStrategy.VERSION,
            key = "#headers['entity']",
            version = "#headers['version']")
    void on(String payload) {
        this.effects.apply("version", payload);
    }
}
