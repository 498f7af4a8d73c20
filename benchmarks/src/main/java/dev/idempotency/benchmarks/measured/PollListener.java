package dev.idempotency.benchmarks.measured;

import dev.idempotency.IdempotentListener;
import org.springframework.context.annotation.Bean;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.kafka.annotation.KafkaListener;
import org.springframework.kafka.config.ContainerPostProcessor;
import org.springframework.kafka.listener.AbstractMessageListenerContainer;

/** The same work, protected by this library, in one transaction for all records of a poll. */
class PollListener {

    static final String ID = "idempotent-poll";

    private final Effects effects;

    PollListener(JdbcTemplate jdbc) {
        this.effects = new Effects(jdbc, ID);
    }

    @KafkaListener(id = ID, topics = "${benchmark.topic}", containerPostProcessor = "measuredByPolls")
    @IdempotentListener(value = ID, transactionPerPoll = "true")
    void on(String payload) {
        this.effects.happen(payload);
    }

    /** Turns are measured by interceptors; this container does not use the one for single records. */
    @Bean
    static ContainerPostProcessor<Object, Object, AbstractMessageListenerContainer<Object, Object>> measuredByPolls() {
        return container -> container.setRecordInterceptor(null);
    }
}
