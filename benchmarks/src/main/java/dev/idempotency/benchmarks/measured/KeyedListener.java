package dev.idempotency.benchmarks.measured;

import dev.idempotency.IdempotentListener;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.kafka.annotation.KafkaListener;

/** Takes its ids from the parts of a message that {@link VersionListener} evaluates, so that both can be compared. */
class KeyedListener {

    static final String ID = "idempotent-key";

    private final Effects effects;

    KeyedListener(JdbcTemplate jdbc) {
        this.effects = new Effects(jdbc, ID);
    }

    @KafkaListener(id = ID, topics = "${benchmark.topic}")
    @IdempotentListener(
            consumer = ID,
            key = "#record.partition() + '-' + #payload.substring(0, 36) + '-' + #headers['version']")
    void on(String payload) {
        this.effects.happen(payload);
    }
}
