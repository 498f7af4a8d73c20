package dev.idempotency.benchmarks.measured;

import dev.idempotency.DeduplicationStrategy;
import dev.idempotency.IdempotentListener;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.kafka.annotation.KafkaListener;

/** The same work, protected by positions instead of ids. */
class OffsetListener {

    static final String ID = "offset";

    private final Effects effects;

    OffsetListener(JdbcTemplate jdbc) {
        this.effects = new Effects(jdbc, ID);
    }

    @KafkaListener(id = ID, topics = "${benchmark.topic}")
    @IdempotentListener(value = ID, strategy = DeduplicationStrategy.OFFSET)
    void on(String payload) {
        this.effects.happen(payload);
    }
}
