package dev.idempotency.benchmarks.measured;

import dev.idempotency.DeduplicationStrategy;
import dev.idempotency.IdempotentListener;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.kafka.annotation.KafkaListener;

/** The same work, protected by positions, in one transaction for all records of a poll; needs {@link PollListener}'s bean. */
class OffsetPollListener {

    static final String ID = "offset-poll";

    private final Effects effects;

    OffsetPollListener(JdbcTemplate jdbc) {
        this.effects = new Effects(jdbc, ID);
    }

    @KafkaListener(id = ID, topics = "${benchmark.topic}", containerPostProcessor = "measuredByPolls")
    @IdempotentListener(value = ID, strategy = DeduplicationStrategy.OFFSET, transactionPerPoll = "true")
    void on(String payload) {
        this.effects.happen(payload);
    }
}
