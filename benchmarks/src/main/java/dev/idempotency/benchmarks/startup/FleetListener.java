package dev.idempotency.benchmarks.startup;

import dev.idempotency.IdempotentListener;
import org.springframework.kafka.annotation.KafkaListener;
import org.springframework.transaction.annotation.Transactional;

/** One of many listeners; a plain transactional one if the library is switched off. */
abstract class FleetListener {

    @KafkaListener(topics = "#{__listener.class.simpleName}", groupId = "#{__listener.class.simpleName}")
    @IdempotentListener
    @Transactional
    void on(String payload) {}
}
