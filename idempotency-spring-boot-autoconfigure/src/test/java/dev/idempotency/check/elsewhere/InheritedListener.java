package dev.idempotency.check.elsewhere;

import dev.idempotency.IdempotentListener;
import org.springframework.kafka.annotation.KafkaListener;

/** Listener methods that are inherited by a class in another package. */
public abstract class InheritedListener {

    @KafkaListener(topics = "t", groupId = "g")
    @IdempotentListener
    void packagePrivate(String payload) {}

    @KafkaListener(topics = "t", groupId = "g")
    @IdempotentListener
    protected void inheritedProtected(String payload) {}
}
