package dev.idempotency.benchmarks.measured;

import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.kafka.annotation.KafkaListener;
import org.springframework.messaging.handler.annotation.Header;
import org.springframework.transaction.annotation.Transactional;

/** The most common hand-written solution: check whether the message is known, insert it if not, in one transaction. */
class HandWrittenListener {

    static final String ID = "hand-written";
    static final String TABLE = "hand_written_processed";

    private static final String CREATE = """
            create table if not exists %s (
                message_id   varchar(255) primary key,
                processed_at timestamp with time zone not null default current_timestamp
            )
            """.formatted(TABLE);
    private static final String CHECK = "select count(*) from " + TABLE + " where message_id = ?";
    private static final String REMEMBER = "insert into " + TABLE + " (message_id) values (?)";

    private final JdbcTemplate jdbc;
    private final Effects effects;

    HandWrittenListener(JdbcTemplate jdbc) {
        this.jdbc = jdbc;
        this.effects = new Effects(jdbc, ID);
        jdbc.execute(CREATE);
    }

    @KafkaListener(id = ID, topics = "${benchmark.topic}")
    @Transactional
    void on(String payload, @Header("message-id") String id) {
        Integer known = this.jdbc.queryForObject(CHECK, Integer.class, id);
        if (known != null && known > 0) {
            return;
        }
        this.jdbc.update(REMEMBER, id);
        this.effects.happen(payload);
    }
}
