package dev.idempotency.benchmarks.measured;

import dev.idempotency.DeduplicationStrategy;
import dev.idempotency.IdempotentListener;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.kafka.annotation.KafkaListener;

/** The same work, protected by this library, for messages that are versions of some hundred entities. */
class VersionListener {

    static final String ID = "idempotent-version";

    private final Effects effects;

    VersionListener(JdbcTemplate jdbc) {
        this.effects = new Effects(jdbc, ID);
    }

    /** Each entity is in one partition only, so that versions do not overtake each other. */
    @KafkaListener(id = ID, topics = "${benchmark.topic}")
    @IdempotentListener(
            consumer = ID,
            strategy = DeduplicationStrategy.VERSION,
            key = "#record.partition() + '-' + #payload.substring(0, 2)",
            version = "#headers['version']")
    void on(String payload) {
        this.effects.happen(payload);
    }
}
