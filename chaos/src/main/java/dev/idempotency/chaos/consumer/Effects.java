package dev.idempotency.chaos.consumer;

import dev.idempotency.chaos.MessageKind;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.stereotype.Component;

/** The work of all listeners: a row per message that was applied, in a table that takes it twice, too. */
@Component
class Effects {

    static final String TABLE = """
            create table if not exists effect (
                consumer varchar(20) not null,
                message_id varchar(100) not null,
                instance varchar(100) not null
            )
            """;

    private static final String INSERT = "insert into effect (consumer, message_id, instance) values (?, ?, ?)";

    private final JdbcTemplate jdbc;
    private final String instance;
    private final Set<String> failedOnce = ConcurrentHashMap.newKeySet();

    Effects(JdbcTemplate jdbc, @Value("${chaos.instance}") String instance) {
        this.jdbc = jdbc;
        this.instance = instance;
    }

    void apply(String consumer, String payload) {
        this.jdbc.update(INSERT, consumer, MessageKind.idOfPayload(payload), this.instance);
        failIfItMust(consumer, payload);
    }

    void apply(String consumer, List<String> payloads) {
        this.jdbc.batchUpdate(
                INSERT,
                payloads.stream()
                        .map(payload -> new Object[] {consumer, MessageKind.idOfPayload(payload), this.instance})
                        .toList());
        payloads.forEach(payload -> failIfItMust(consumer, payload));
    }

    /** After the work, so that a failure has something to undo. */
    private void failIfItMust(String consumer, String payload) {
        MessageKind kind = MessageKind.ofPayload(payload);
        boolean fails = kind == MessageKind.POISON
                || (kind == MessageKind.FLAKY && this.failedOnce.add(consumer + "/" + payload));
        if (fails) {
            throw new IllegalArgumentException("This message fails: " + payload);
        }
    }
}
