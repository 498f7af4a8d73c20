package dev.idempotency.failure;

import dev.idempotency.IdempotentListener;
import java.util.List;
import org.springframework.kafka.annotation.KafkaListener;

/** A record, a batch and a poll listener that do the same. Ids, topics, groups and consumers are named after the kind. */
abstract class ListenersOfKinds {

    abstract void on(String payload);

    @KafkaListener(id = "records", topics = "records${suffix}", groupId = "records${suffix}")
    @IdempotentListener("records")
    void records(String payload) {
        on(payload);
    }

    @KafkaListener(id = "batches", topics = "batches${suffix}", groupId = "batches${suffix}", batch = "true")
    @IdempotentListener("batches")
    void batches(List<String> payloads) {
        payloads.forEach(this::on);
    }

    @KafkaListener(id = "polls", topics = "polls${suffix}", groupId = "polls${suffix}")
    @IdempotentListener(value = "polls", transactionPerPoll = "true")
    void polls(String payload) {
        on(payload);
    }
}
