package dev.idempotency.chaos.consumer;

import dev.idempotency.DeduplicationStrategy;
import dev.idempotency.IdempotentListener;
import dev.idempotency.chaos.MessageKind;
import org.springframework.context.annotation.Profile;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.kafka.annotation.KafkaListener;
import org.springframework.stereotype.Component;

/** Writes its effect to the common table, and the unique row to a separate one. */
@Component
@Profile("unique")
class UniqueListener {

    static final String TABLE = """
            create table if not exists unique_work (
                message_id varchar(100) not null,
                constraint unique_work_pkey primary key (message_id)
            )
            """;

    private final Effects effects;
    private final JdbcTemplate jdbc;

    UniqueListener(Effects effects, JdbcTemplate jdbc) {
        this.effects = effects;
        this.jdbc = jdbc;
    }

    @KafkaListener(topics = ConsumerApplication.TOPIC, groupId = "unique")
    @IdempotentListener(
            consumer = "unique",
            strategy = DeduplicationStrategy.UNIQUE_CONSTRAINT,
            uniqueConstraint = "unique_work_pkey")
    void on(String payload) {
        this.jdbc.update("insert into unique_work values (?)", MessageKind.idOfPayload(payload));
        this.effects.apply("unique", payload);
    }
}
