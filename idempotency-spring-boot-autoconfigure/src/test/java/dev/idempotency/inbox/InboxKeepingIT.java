package dev.idempotency.inbox;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.idempotency.MessageId;
import dev.idempotency.ReplayException;
import dev.idempotency.retention.Cleanup;
import dev.idempotency.testing.TestKafka;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.internals.RecordHeader;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.jdbc.core.JdbcTemplate;

/** What the inbox keeps of a message, how it is found, and when it is forgotten. */
@ExtendWith(InboxApplication.Shared.class)
class InboxKeepingIT {

    private final InboxApplication app;
    private final JdbcTemplate jdbc;

    InboxKeepingIT(InboxApplication app) {
        this.app = app;
        this.jdbc = app.application().jdbc();
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    private static void send(ProducerRecord<byte[], byte[]> record) throws Exception {
        try (KafkaProducer<byte[], byte[]> producer = new KafkaProducer<>(
                Map.of("bootstrap.servers", TestKafka.bootstrapServers()),
                new ByteArraySerializer(),
                new ByteArraySerializer())) {
            producer.send(record).get(30, TimeUnit.SECONDS);
        }
    }

    @Test
    void aProcessedMessageIsKeptByteForByteAsItWasReceived() throws Exception {
        byte[] payload = new byte[InboxApplication.MAX_PAYLOAD];
        new Random(1).nextBytes(payload);
        List<Header> headers = List.of(
                new RecordHeader("message-id", bytes("1")),
                new RecordHeader("ce_type", bytes("payment")),
                new RecordHeader("binary", new byte[] {0, -1, 10, 37}),
                new RecordHeader("binary", new byte[] {7}),
                new RecordHeader("nothing", (byte[]) null));
        send(new ProducerRecord<>(this.app.topic("stripped"), 0, bytes("the key"), payload, headers));
        InboxEntry entry = this.app.awaitStatus("stripped", "1", InboxStatus.PROCESSED, 1);
        InboxMessage message = this.app.message("stripped", "1");
        assertThat(message.payload()).isEqualTo(payload);
        assertThat(message.key()).isEqualTo(bytes("the key"));
        assertThat(message.headers()).isEqualTo(headers);
        assertThat(entry.type()).isEqualTo("payment");
        assertThat(entry.record().topic()).isEqualTo(this.app.topic("stripped"));
        assertThat(entry.record().offset()).isZero();
        assertThat(entry.payloadSize()).isEqualTo(InboxApplication.MAX_PAYLOAD);
        assertThat(entry.payloadOmitted()).isNull();
        assertThat(entry.lastError()).isNull();
        assertThat(entry.processedAt()).isNotNull().isAfterOrEqualTo(entry.receivedAt());
    }

    @Test
    void aRecordWithoutKeyAndValueIsKeptToo() {
        this.app.send("any", "1", null);
        InboxEntry entry = this.app.awaitStatus("any", "1", InboxStatus.PROCESSED, 1);
        assertThat(this.app.message("any", "1").payload()).isNull();
        assertThat(this.app.message("any", "1").key()).isNull();
        assertThat(entry.payloadOmitted()).isNull();
        assertThat(entry.type()).isNull();
    }

    @Test
    void jsonCanBeReadInTheViewAndOtherPayloadsDoNotHinderThat() throws Exception {
        sendBytes("json", bytes("{\"amount\": 12}"));
        sendBytes("text", bytes("no json"));
        sendBytes("binary", new byte[] {0, -1, -2});
        this.app.awaitCaughtUp("any");
        Map<String, Object> json = readable("json");
        assertThat(json.get("payload_json").toString()).isEqualTo("{\"amount\": 12}");
        assertThat(json.get("record_headers")).isEqualTo("message-id: json");
        assertThat(readable("text")).containsEntry("payload_json", null).containsEntry("payload_text", "no json");
        assertThat(readable("binary")).containsEntry("payload_json", null).containsEntry("payload_text", null);
        assertThat(this.jdbc.queryForObject(
                        "select payload_json ->> 'amount' from idempotency_inbox_readable where message_id = 'json'",
                        Integer.class))
                .isEqualTo(12);
    }

    private void sendBytes(String id, byte[] payload) throws Exception {
        ProducerRecord<byte[], byte[]> record = new ProducerRecord<>(this.app.topic("any"), payload);
        record.headers().add("message-id", bytes(id));
        send(record);
    }

    private Map<String, Object> readable(String id) {
        return this.jdbc.queryForMap("select * from idempotency_inbox_readable where message_id = ?", id);
    }

    @Test
    void deserializersThatTheConsumerFactoryWasGivenAsObjectsAreServedToo() {
        this.app.send("given", "1", "x");
        this.app.awaitStatus("given", "1", InboxStatus.PROCESSED, 1);
        assertThat(this.app.message("given", "1").payload()).isEqualTo(bytes("x"));
    }

    @Test
    void allMessagesOfABatchAreKept() {
        for (int i = 0; i < 20; i++) {
            this.app.send("batch", "id-" + i, "m" + i);
        }
        this.app.awaitCaughtUp("batch");
        assertThat(this.app.entries("batch", InboxStatus.PROCESSED)).hasSize(20);
        assertThat(this.app.message("batch", "id-7").payload()).isEqualTo(bytes("m7"));
    }

    @Test
    void aPayloadBeyondTheLimitIsLeftOutAndCannotBeReplayed() {
        String kept = "x".repeat(InboxApplication.MAX_PAYLOAD);
        this.app.failAt(kept + "x", InboxApplication.MAX_ATTEMPTS);
        this.app.send("large", "1", kept + "x");
        this.app.send("large", "2", kept);
        this.app.awaitStatus("large", "2", InboxStatus.PROCESSED, 1);
        assertThat(this.app.message("large", "2").payload()).hasSize(InboxApplication.MAX_PAYLOAD);
        InboxMessage large = this.app.message("large", "1");
        assertThat(large.payload()).isNull();
        assertThat(large.entry().payloadSize()).isEqualTo(InboxApplication.MAX_PAYLOAD + 1);
        assertThat(large.entry().payloadOmitted()).isEqualTo("too large");
        assertThatExceptionOfType(ReplayException.class)
                .isThrownBy(() -> this.app.inbox().replay(new MessageId("large", "1")))
                .withMessageContaining("payload was not kept (too large)")
                .withMessageContaining("idempotency.inbox.max-payload");
        assertThat(this.app.inbox().replayFailed("large")).isEqualTo(new ReplayResult(0, 0, 1));
    }

    @Test
    void theInboxIsAskedByStatusConsumerTypeAndTimeInPages() {
        this.jdbc.update("delete from idempotency_inbox");
        for (int i = 0; i < 10; i++) {
            this.jdbc.update(
                    "insert into idempotency_inbox (consumer_id, message_id, status, message_type, record_topic,"
                            + " record_partition, record_offset, record_headers, attempts, updated_at)"
                            + " values (?, ?, ?, ?, 't', 0, ?, '', 1, timestamptz '2026-01-01 00:00Z' + ? * interval '1 day')",
                    (i < 8) ? "a" : "b",
                    "id-" + i,
                    (i % 2 == 0) ? "failed" : "processed",
                    (i < 5) ? "order" : "refund",
                    i,
                    i);
        }
        Inbox inbox = this.app.inbox();
        InboxPage first = inbox.find(InboxQuery.ALL.withPage(0, 4));
        assertThat(ids(first)).containsExactly("id-9", "id-8", "id-7", "id-6");
        assertThat(first.last()).isFalse();
        InboxPage last = inbox.find(InboxQuery.ALL.withPage(2, 4));
        assertThat(ids(last)).containsExactly("id-1", "id-0");
        assertThat(last.last()).isTrue();
        assertThat(inbox.find(InboxQuery.ALL.withPage(1, 5)).last()).isTrue();
        assertThat(ids(inbox.find(InboxQuery.ALL.withStatus(InboxStatus.FAILED).withConsumer("a"))))
                .containsExactly("id-6", "id-4", "id-2", "id-0");
        assertThat(ids(inbox.find(InboxQuery.ALL.withType("order").withStatus(InboxStatus.PROCESSED))))
                .containsExactly("id-3", "id-1");
        assertThat(ids(inbox.find(InboxQuery.ALL.withTime(
                        Instant.parse("2026-01-03T00:00:00Z"), Instant.parse("2026-01-05T00:00:00Z")))))
                .containsExactly("id-3", "id-2");
    }

    private static List<String> ids(InboxPage page) {
        return page.entries().stream().map(entry -> entry.id().value()).toList();
    }

    @Test
    void processedAndFailedMessagesAreForgottenAfterTimesOfTheirOwn() {
        this.jdbc.update("delete from idempotency_inbox");
        Map<String, String> agesByStatus = Map.of("processed", "1,3", "failed", "3,9,11", "replayed", "9,11");
        agesByStatus.forEach((status, ages) -> {
            for (String age : ages.split(",")) {
                this.jdbc.update(
                        "insert into idempotency_inbox (consumer_id, message_id, status, record_topic, record_partition,"
                                + " record_offset, record_headers, attempts, updated_at)"
                                + " values ('any', ?, ?, 't', 0, 0, '', 1, now() - ? * interval '1 day')",
                        status + age,
                        status,
                        Integer.parseInt(age));
            }
        });
        assertThat(this.app.application().bean(Cleanup.class).run().deletedByTask())
                .containsEntry("inbox", 3L);
        assertThat(this.jdbc.queryForList("select message_id from idempotency_inbox order by message_id", String.class))
                .containsExactly("failed3", "failed9", "processed1", "replayed9");
    }
}
