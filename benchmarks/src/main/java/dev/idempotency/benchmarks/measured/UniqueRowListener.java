package dev.idempotency.benchmarks.measured;

import dev.idempotency.DeduplicationStrategy;
import dev.idempotency.IdempotentListener;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.kafka.annotation.KafkaListener;
import org.springframework.transaction.annotation.Transactional;

/** The same work with rows that are unique anyway: without protection, and with duplicates detected by the constraint. */
class UniqueRowListener {

    static final String RAW = "raw-unique";
    static final String CONSTRAINT = "constraint";

    private static final String UNIQUE = "create unique index if not exists %1$s_payload on %1$s (payload)";

    private final Effects raw;
    private final Effects constrained;

    UniqueRowListener(JdbcTemplate jdbc) {
        this.raw = new Effects(jdbc, RAW);
        this.constrained = new Effects(jdbc, CONSTRAINT);
        jdbc.execute(UNIQUE.formatted(Effects.table(RAW)));
        jdbc.execute(UNIQUE.formatted(Effects.table(CONSTRAINT)));
    }

    @KafkaListener(id = RAW, topics = "${benchmark.topic}")
    @Transactional
    void raw(String payload) {
        this.raw.happen(payload);
    }

    @KafkaListener(id = CONSTRAINT, topics = "${benchmark.topic}")
    @IdempotentListener(
            consumer = CONSTRAINT,
            strategy = DeduplicationStrategy.UNIQUE_CONSTRAINT,
            uniqueConstraint = "effect_constraint_payload")
    void constrained(String payload) {
        this.constrained.happen(payload);
    }
}
