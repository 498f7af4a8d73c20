package dev.idempotency.benchmarks.measured;

import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.kafka.annotation.KafkaListener;
import org.springframework.transaction.annotation.Transactional;

/**
 * A transactional listener that does its work for every delivery, and a second one that is the same. Their ratio would be 1
 * without any disturbance of the measurement.
 */
class RawListener {

    static final String ID = "raw";
    static final String AGAIN = "raw-again";

    private final Effects effects;
    private final Effects again;

    RawListener(JdbcTemplate jdbc) {
        this.effects = new Effects(jdbc, ID);
        this.again = new Effects(jdbc, AGAIN);
    }

    @KafkaListener(id = ID, topics = "${benchmark.topic}")
    @Transactional
    void on(String payload) {
        this.effects.happen(payload);
    }

    @KafkaListener(id = AGAIN, topics = "${benchmark.topic}")
    @Transactional
    void again(String payload) {
        this.again.happen(payload);
    }
}
