package dev.idempotency.benchmarks.measured;

import dev.idempotency.IdempotentListener;
import java.util.List;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.kafka.annotation.KafkaListener;

/** The same work, protected by this library without digests of payloads. */
class UndigestedListener {

    static final String ID = "undigested";
    static final String TOGETHER_500 = "undigested-together-500";

    private final Effects effects;
    private final Effects together500;

    UndigestedListener(JdbcTemplate jdbc) {
        this.effects = new Effects(jdbc, ID);
        this.together500 = new Effects(jdbc, TOGETHER_500);
    }

    @KafkaListener(id = ID, topics = "${benchmark.topic}")
    @IdempotentListener(value = ID, onConflict = "off")
    void on(String payload) {
        this.effects.happen(payload);
    }

    @KafkaListener(
            id = TOGETHER_500,
            topics = "${benchmark.topic}",
            batch = "true",
            properties = "max.poll.records=500")
    @IdempotentListener(value = TOGETHER_500, onConflict = "off")
    void together500(List<String> payloads) {
        this.together500.happenTogether(payloads);
    }
}
