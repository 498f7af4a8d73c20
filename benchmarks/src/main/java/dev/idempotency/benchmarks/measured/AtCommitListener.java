package dev.idempotency.benchmarks.measured;

import dev.idempotency.IdempotentListener;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.kafka.annotation.KafkaListener;

/** The same work, protected by claims at the commit. */
class AtCommitListener {

    static final String ID = "at-commit";

    private final Effects effects;

    AtCommitListener(JdbcTemplate jdbc) {
        this.effects = new Effects(jdbc, ID);
    }

    @KafkaListener(id = ID, topics = "${benchmark.topic}")
    @IdempotentListener(consumer = ID, claimAtCommit = "true")
    void on(String payload) {
        this.effects.happen(payload);
    }
}
