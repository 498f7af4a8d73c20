package dev.idempotency.benchmarks.measured;

import dev.idempotency.IdempotentListener;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.kafka.annotation.KafkaListener;

/** Claims with the commit. */
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
