package dev.idempotency.benchmarks.contender;

import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.kafka.annotation.KafkaListener;
import org.springframework.transaction.annotation.Transactional;

/** A transactional listener that does its work however often a message comes. */
class RawListener {

    static final String ID = "raw";

    private final Effects effects;

    RawListener(JdbcTemplate jdbc) {
        this.effects = new Effects(jdbc, ID);
    }

    @KafkaListener(id = ID, topics = "${benchmark.topic}")
    @Transactional
    void on(String payload) {
        this.effects.happen(payload);
    }
}
