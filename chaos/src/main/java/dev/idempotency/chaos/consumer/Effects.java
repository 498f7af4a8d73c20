package dev.idempotency.chaos.consumer;

import dev.idempotency.chaos.MessageKind;
import dev.idempotency.chaos.RecordId;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.stereotype.Component;

/** The work of all listeners: a row per applied message, in a table that allows duplicates. */
@Component
class Effects {

    /** The numbers of rows reflect the order of the work, as far as it was serialized. */
    static final String TABLE = """
            create table if not exists effect (
                number bigint generated always as identity primary key,
                consumer varchar(20) not null,
                message_id varchar(100) not null,
                instance varchar(100) not null
            )
            """;

    private static final String INSERT = "insert into effect (consumer, message_id, instance) values (?, ?, ?)";

    private final JdbcTemplate jdbc;
    private final String instance;
    private final Sabotage sabotage;
    private final Set<String> failedOnce = ConcurrentHashMap.newKeySet();

    Effects(
            JdbcTemplate jdbc,
            @Value("${chaos.instance}") String instance,
            @Value("${chaos.sabotage}") Sabotage sabotage) {
        this.jdbc = jdbc;
        this.instance = instance;
        this.sabotage = sabotage;
    }

    void apply(String consumer, String payload) {
        apply(consumer, List.of(payload));
    }

    void apply(String consumer, List<String> payloads) {
        apply(consumer, payloads.stream().map(MessageKind::idOfPayload).toList(), payloads);
    }

    /** Applies records for consumers that distinguish them: a message that was published twice counts as two. */
    void applyRecords(String consumer, List<ConsumerRecord<String, String>> records) {
        apply(
                consumer,
                records.stream()
                        .map(record -> RecordId.of(record.partition(), record.offset()))
                        .toList(),
                records.stream().map(ConsumerRecord::value).toList());
    }

    private void apply(String consumer, List<String> ids, List<String> payloads) {
        this.jdbc.batchUpdate(
                INSERT,
                ids.stream()
                        .map(id -> new Object[] {consumer, id, this.instance})
                        .toList());
        if (this.sabotage == Sabotage.NO_CLAIM) {
            ForgottenClaims.forget(consumer, this.jdbc);
        }
        payloads.forEach(payload -> failIfItMust(consumer, payload));
    }

    /** Called after the work, so that there is something to roll back. */
    private void failIfItMust(String consumer, String payload) {
        MessageKind kind = MessageKind.ofPayload(payload);
        boolean fails = kind == MessageKind.POISON
                || (kind == MessageKind.FLAKY && this.failedOnce.add(consumer + "/" + payload));
        if (fails) {
            throw new IllegalArgumentException("This message fails: " + payload);
        }
    }
}
