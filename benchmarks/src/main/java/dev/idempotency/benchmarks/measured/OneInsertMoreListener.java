package dev.idempotency.benchmarks.measured;

import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.kafka.annotation.KafkaListener;
import org.springframework.messaging.handler.annotation.Header;
import org.springframework.transaction.annotation.Transactional;

/**
 * The same claim by hand: one additional insert in the listener's transaction, into a table like this library's, written for
 * this listener only.
 */
class OneInsertMoreListener {

    static final String ID = "one-insert-more";
    static final String TABLE = "one_insert_more_processed";

    private static final String CREATE =
            "create table if not exists %s (like idempotency_processed including all)".formatted(TABLE);

    private static final String CLAIM = """
            insert into %s (consumer_id, message_id, record_topic, record_partition, record_offset)
            values (?, ?, ?, ?, ?)
            on conflict do nothing
            """.formatted(TABLE);

    private final JdbcTemplate jdbc;
    private final Effects effects;

    OneInsertMoreListener(JdbcTemplate jdbc) {
        this.jdbc = jdbc;
        this.effects = new Effects(jdbc, ID);
        jdbc.execute(CREATE);
    }

    @KafkaListener(id = ID, topics = "${benchmark.topic}")
    @Transactional
    void on(ConsumerRecord<String, String> record, @Header("message-id") String id) {
        if (this.jdbc.update(CLAIM, ID, id, record.topic(), record.partition(), record.offset()) == 1) {
            this.effects.happen(record.value());
        }
    }
}
