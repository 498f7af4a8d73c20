package dev.idempotency.internal.failure;

import dev.idempotency.app.HasEffects;
import dev.idempotency.app.OfKind;
import java.util.List;

/** A record, a batch and a poll listener with the same work. Ids, topics, groups and consumers are named after the kind. */
abstract class ListenersOfKinds extends HasEffects {

    abstract void on(String payload);

    @OfKind("records")
    void records(String payload) {
        on(payload);
    }

    @OfKind(value = "batches", batch = "true")
    void batches(List<String> payloads) {
        payloads.forEach(this::on);
    }

    @OfKind(value = "polls", transactionPerPoll = "true")
    void polls(String payload) {
        on(payload);
    }
}
