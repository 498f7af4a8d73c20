package dev.idempotency.benchmarks.measured;

import dev.idempotency.IdempotentListener;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.kafka.annotation.KafkaListener;

/** The same work, protected by this library. */
class IdempotentRecordListener {

    static final String ID = "idempotent";

    private final Effects effects;

    IdempotentRecordListener(JdbcTemplate jdbc) {
        this.effects = new Effects(jdbc, ID);
    }

    @KafkaListener(id = ID, topics = "${benchmark.topic}")
    @IdempotentListener(ID)
    void on(String payload) {
        this.effects.happen(payload);
    }
}
