package dev.idempotency.inbox;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.idempotency.IdempotentListener;
import dev.idempotency.MessageId;
import dev.idempotency.ReplayException;
import dev.idempotency.app.ApplicationTest;
import dev.idempotency.app.Effects;
import dev.idempotency.app.TestApplication;
import dev.idempotency.app.TopicContents;
import dev.idempotency.observe.IdempotencyMeters;
import dev.idempotency.retention.Cleanup;
import io.micrometer.core.instrument.MeterRegistry;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.Headers;
import org.apache.kafka.common.header.internals.RecordHeader;
import org.apache.kafka.common.serialization.Deserializer;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.kafka.autoconfigure.KafkaProperties;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;
import org.springframework.core.env.Environment;
import org.springframework.kafka.annotation.BackOff;
import org.springframework.kafka.annotation.KafkaListener;
import org.springframework.kafka.annotation.RetryableTopic;
import org.springframework.kafka.core.ConsumerFactory;
import org.springframework.kafka.core.DefaultKafkaConsumerFactory;
import org.springframework.kafka.listener.BatchListenerFailedException;

@ExtendWith(OutputCaptureExtension.class)
class InboxIT extends ApplicationTest {

    private static final String CONSUMER = "ledger";
    private static final String BYTES =
            "spring.kafka.producer.value-serializer=" + "org.apache.kafka.common.serialization.ByteArraySerializer";
    private static final List<String> FAST = List.of(
            "idempotency.errors.initial-interval=1ms",
            "idempotency.errors.max-interval=1ms",
            "idempotency.errors.max-attempts=3");

    private static MessageId id(String value) {
        return new MessageId(CONSUMER, value);
    }

    private static InboxMessage message(TestApplication app, String id) {
        InboxMessage message = app.bean(Inbox.class).find(id(id));
        assertThat(message).as("message %s", id).isNotNull();
        return message;
    }

    private static InboxEntry awaitStatus(TestApplication app, String id, InboxStatus status, int attempts) {
        Awaitility.await("message " + id + " " + status)
                .atMost(Duration.ofSeconds(30))
                .untilAsserted(() -> {
                    InboxEntry entry = message(app, id).entry();
                    assertThat(entry.status()).isEqualTo(status);
                    assertThat(entry.attempts()).isEqualTo(attempts);
                });
        return message(app, id).entry();
    }

    private static double count(TestApplication app, String meter) {
        return app.bean(MeterRegistry.class)
                .get(meter)
                .tag(IdempotencyMeters.CONSUMER, CONSUMER)
                .counter()
                .count();
    }

    /** Neither as text nor as databases write binary values. */
    private static void assertThatNoPayloadIsIn(CapturedOutput output) {
        byte[] secret = "secret-payload".getBytes(StandardCharsets.UTF_8);
        assertThat(output.getAll())
                .doesNotContain("secret-payload", HexFormat.of().formatHex(secret));
    }

    @Test
    void aProcessedMessageIsKeptByteForByteAsItWasReceived() {
        byte[] payload = new byte[5000];
        new Random(1).nextBytes(payload);
        try (TestApplication app = start(
                List.of(
                        BYTES,
                        "spring.kafka.consumer.value-deserializer=" + HeaderRemovingDeserializer.class.getName()),
                AnyPayload.class)) {
            List<Header> headers = List.of(
                    new RecordHeader("message-id", "1".getBytes(StandardCharsets.UTF_8)),
                    new RecordHeader("ce_type", "payment".getBytes(StandardCharsets.UTF_8)),
                    new RecordHeader("binary", new byte[] {0, -1, 10, 37}),
                    new RecordHeader("binary", new byte[] {7}),
                    new RecordHeader("nothing", (byte[]) null));
            app.send(new ProducerRecord<>(this.topic, 0, "the key", payload, headers));
            InboxEntry entry = awaitStatus(app, "1", InboxStatus.PROCESSED, 1);
            InboxMessage message = message(app, "1");
            assertThat(message.payload()).isEqualTo(payload);
            assertThat(message.key()).isEqualTo("the key".getBytes(StandardCharsets.UTF_8));
            assertThat(message.headers()).isEqualTo(headers);
            assertThat(entry.type()).isEqualTo("payment");
            assertThat(entry.record().topic()).isEqualTo(this.topic);
            assertThat(entry.record().offset()).isZero();
            assertThat(entry.payloadSize()).isEqualTo(5000);
            assertThat(entry.payloadOmitted()).isNull();
            assertThat(entry.lastError()).isNull();
            assertThat(entry.processedAt()).isNotNull().isAfterOrEqualTo(entry.receivedAt());
        }
    }

    @Test
    void aRecordWithoutKeyAndValueIsKeptToo() {
        try (TestApplication app = start(AnyPayload.class)) {
            app.send(this.topic, "1", null);
            InboxEntry entry = awaitStatus(app, "1", InboxStatus.PROCESSED, 1);
            assertThat(message(app, "1").payload()).isNull();
            assertThat(message(app, "1").key()).isNull();
            assertThat(entry.payloadOmitted()).isNull();
            assertThat(entry.type()).isNull();
        }
    }

    @Test
    void jsonCanBeReadInTheViewAndOtherPayloadsDoNotHinderThat() {
        try (TestApplication app = start(List.of(BYTES), AnyPayload.class)) {
            sendBytes(app, "json", "{\"amount\": 12}".getBytes(StandardCharsets.UTF_8));
            sendBytes(app, "text", "no json".getBytes(StandardCharsets.UTF_8));
            sendBytes(app, "binary", new byte[] {0, -1, -2});
            app.awaitCaughtUp(this.group, this.topic);
            Map<String, Object> json = readable(app, "json");
            assertThat(json.get("payload_json").toString()).isEqualTo("{\"amount\": 12}");
            assertThat(json.get("record_headers")).isEqualTo("message-id: json");
            assertThat(readable(app, "text"))
                    .containsEntry("payload_json", null)
                    .containsEntry("payload_text", "no json");
            assertThat(readable(app, "binary"))
                    .containsEntry("payload_json", null)
                    .containsEntry("payload_text", null);
            assertThat(app.jdbc()
                            .queryForObject(
                                    "select payload_json ->> 'amount' from idempotency_inbox_readable where message_id = 'json'",
                                    Integer.class))
                    .isEqualTo(12);
        }
    }

    private void sendBytes(TestApplication app, String id, byte[] payload) {
        ProducerRecord<String, byte[]> record = new ProducerRecord<>(this.topic, payload);
        record.headers().add("message-id", id.getBytes(StandardCharsets.UTF_8));
        app.send(record);
    }

    private static Map<String, Object> readable(TestApplication app, String id) {
        return app.jdbc().queryForMap("select * from idempotency_inbox_readable where message_id = ?", id);
    }

    @Test
    void aListenerThatFailsThreeTimesAndThenSucceedsHasFourAttemptsAndTheLastError() {
        List<String> properties = List.of(
                "idempotency.errors.initial-interval=1ms",
                "idempotency.errors.max-interval=1ms",
                "idempotency.errors.max-attempts=10");
        try (TestApplication app = start(properties, Fallible.class)) {
            app.bean(Fallible.class).failAt("paid", 3);
            app.send(this.topic, "1", "paid");
            InboxEntry entry = awaitStatus(app, "1", InboxStatus.PROCESSED, 4);
            assertThat(entry.lastError()).startsWith("java.lang.IllegalStateException: failure 1 left");
            assertThat(app.bean(Effects.class).all()).containsExactly("paid");
        }
    }

    @Test
    void whatWasDeadLetteredIsShownAsFailedAndReplayedAfterAFix(CapturedOutput output) {
        try (TestApplication app = start(FAST, Fallible.class)) {
            Fallible listener = app.bean(Fallible.class);
            listener.failAt("secret-payload", 1000);
            app.send(this.topic, "1", "secret-payload");
            InboxEntry failed = awaitStatus(app, "1", InboxStatus.FAILED, 3);
            app.awaitCaughtUp(this.group, this.topic);
            assertThat(TopicContents.values(this.topic + "-dlt")).containsExactly("secret-payload");
            assertThat(failed.lastError()).startsWith("java.lang.IllegalStateException: failure");
            assertThat(failed.processedAt()).isNull();

            listener.mend();
            app.bean(Inbox.class).replay(id("1"));
            InboxEntry processed = awaitStatus(app, "1", InboxStatus.PROCESSED, 4);
            assertThat(processed.replays()).isOne();
            assertThat(processed.record()).isEqualTo(failed.record());
            assertThat(app.bean(Effects.class).all()).containsExactly("secret-payload");
            assertThat(count(app, IdempotencyMeters.INBOX_REPLAYS)).isEqualTo(1);
            assertThat(output).contains("Replayed message '1' of consumer 'ledger'");
            List<ConsumerRecord<String, String>> records = TopicContents.of(this.topic);
            assertThat(records).hasSize(2);
            assertThat(records.get(1).value()).isEqualTo("secret-payload");
            assertThat(records.get(1).headers().lastHeader("message-id").value())
                    .isEqualTo("1".getBytes(StandardCharsets.UTF_8));
            assertThat(output.getAll().replace("failed at secret-payload", "")).doesNotContain("secret-payload");
        }
    }

    @Test
    void aReplayThatFailsIsFailedAgainAndCanBeReplayedAgain() {
        try (TestApplication app = start(FAST, Fallible.class)) {
            app.bean(Fallible.class).failAt("x", 4);
            app.send(this.topic, "1", "x");
            awaitStatus(app, "1", InboxStatus.FAILED, 3);
            app.awaitCaughtUp(this.group, this.topic);
            app.bean(Inbox.class).replay(id("1"));
            InboxEntry entry = awaitStatus(app, "1", InboxStatus.PROCESSED, 5);
            assertThat(entry.replays()).isOne();
            assertThat(app.bean(Effects.class).all()).containsExactly("x");
        }
    }

    @Test
    void allFailedMessagesOfAConsumerAreReplayedInTheirOrderAndOnlyOnce() {
        try (TestApplication app = start(FAST, Fallible.class)) {
            Fallible listener = app.bean(Fallible.class);
            for (int i = 0; i < 5; i++) {
                listener.failAt("m" + i, 3);
                app.send(this.topic, "id-" + i, "m" + i);
            }
            app.send(this.topic, "good", "good");
            app.awaitCaughtUp(this.group, this.topic);
            Inbox inbox = app.bean(Inbox.class);
            assertThat(inbox.find(InboxQuery.ALL.withStatus(InboxStatus.FAILED).withConsumer(CONSUMER))
                            .entries())
                    .hasSize(5);
            assertThat(inbox.replayFailed(CONSUMER)).isEqualTo(new Replays(5, 0, 0));
            assertThat(inbox.replayFailed(CONSUMER)).isEqualTo(new Replays(0, 0, 0));
            app.awaitCaughtUp(this.group, this.topic);
            assertThat(app.bean(Effects.class).counts())
                    .isEqualTo(Map.of("m0", 1, "m1", 1, "m2", 1, "m3", 1, "m4", 1, "good", 1));
            assertThat(TopicContents.values(this.topic).subList(6, 11)).containsExactly("m0", "m1", "m2", "m3", "m4");
            assertThat(inbox.replayFailed("nobody")).isEqualTo(new Replays(0, 0, 0));
        }
    }

    @Test
    void aProcessedMessageIsReplayedOnlyWhenItIsForgottenOnPurpose() {
        try (TestApplication app = start(FAST, Fallible.class)) {
            app.send(this.topic, "1", "twice");
            awaitStatus(app, "1", InboxStatus.PROCESSED, 1);
            Inbox inbox = app.bean(Inbox.class);
            assertThatExceptionOfType(ReplayException.class)
                    .isThrownBy(() -> inbox.replay(id("1")))
                    .withMessageContaining("has been processed")
                    .withMessageContaining("Forget it on purpose");
            assertThatExceptionOfType(ReplayException.class)
                    .isThrownBy(() -> inbox.replay(id("unknown")))
                    .withMessageContaining("not in the inbox");
            inbox.forgetAndReplay(id("1"));
            awaitStatus(app, "1", InboxStatus.PROCESSED, 2);
            assertThat(app.bean(Effects.class).all()).containsExactly("twice", "twice");
        }
    }

    @Test
    void aForgottenMessageThatFailsWhenItIsReplayedIsNoLongerShownAsProcessed() {
        try (TestApplication app = start(FAST, Fallible.class)) {
            app.send(this.topic, "1", "once");
            awaitStatus(app, "1", InboxStatus.PROCESSED, 1);
            app.bean(Fallible.class).failAt("once", 1000);
            app.bean(Inbox.class).forgetAndReplay(id("1"));
            assertThat(awaitStatus(app, "1", InboxStatus.FAILED, 4).processedAt())
                    .isNull();
        }
    }

    @Test
    void aMessageWhoseKeyAreItsCoordinatesKeepsThemWhenItIsReplayed() {
        try (TestApplication app = start(FAST, KeyedByCoordinates.class)) {
            app.bean(KeyedByCoordinates.class).fail(3);
            app.send(this.topic, null, "x");
            app.awaitCaughtUp(this.group, this.topic);
            assertThat(app.bean(Inbox.class).replayFailed(CONSUMER).sent()).isOne();
            app.awaitCaughtUp(this.group, this.topic);
            assertThat(app.bean(Inbox.class).find(InboxQuery.ALL).entries())
                    .singleElement()
                    .satisfies(entry -> assertThat(entry.status()).isEqualTo(InboxStatus.PROCESSED));
            assertThat(app.bean(Effects.class).all()).containsExactly("x");
        }
    }

    @Test
    void attemptsInRetryTopicsAreAttemptsAtTheSameMessageAndItsReplayBeginsAnew() {
        try (TestApplication app = start(Retried.class)) {
            app.bean(Retried.class).fail(5);
            app.send(this.topic, "1", "x");
            InboxEntry failed = awaitStatus(app, "1", InboxStatus.FAILED, 3);
            assertThat(failed.record().topic()).isEqualTo(this.topic);
            Awaitility.await("dead letter").atMost(Duration.ofSeconds(30)).untilAsserted(() -> assertThat(
                            TopicContents.values(this.topic + "-dlt"))
                    .hasSize(1));
            app.bean(Inbox.class).replay(id("1"));
            awaitStatus(app, "1", InboxStatus.PROCESSED, 6);
            assertThat(app.bean(Effects.class).all()).containsExactly("x");
            assertThat(message(app, "1").headers()).extracting(Header::key).containsExactly("message-id");
        }
    }

    @Test
    void aPayloadBeyondTheLimitIsLeftOutAndCannotBeReplayed() {
        List<String> properties = List.of(
                "idempotency.inbox.max-payload=10B",
                "idempotency.errors.initial-interval=1ms",
                "idempotency.errors.max-attempts=1");
        try (TestApplication app = start(properties, Fallible.class)) {
            app.bean(Fallible.class).failAt("12345678901", 1);
            app.send(this.topic, "1", "12345678901");
            app.send(this.topic, "2", "1234567890");
            awaitStatus(app, "2", InboxStatus.PROCESSED, 1);
            assertThat(message(app, "2").payload()).hasSize(10);
            InboxMessage large = message(app, "1");
            assertThat(large.payload()).isNull();
            assertThat(large.entry().payloadSize()).isEqualTo(11);
            assertThat(large.entry().payloadOmitted()).isEqualTo("too large");
            Inbox inbox = app.bean(Inbox.class);
            assertThatExceptionOfType(ReplayException.class)
                    .isThrownBy(() -> inbox.replay(id("1")))
                    .withMessageContaining("payload was not kept (too large)")
                    .withMessageContaining("idempotency.inbox.max-payload");
            assertThat(inbox.replayFailed(CONSUMER)).isEqualTo(new Replays(0, 0, 1));
        }
    }

    @Test
    void aFailureThatCannotBeRecordedChangesNothingElse(CapturedOutput output) {
        try (TestApplication app = start(FAST, Fallible.class)) {
            app.jdbc().execute("alter table idempotency_inbox add constraint no_failures check (status <> 'failed')");
            app.bean(Fallible.class).failAt("secret-payload", 1);
            app.send(this.topic, "1", "secret-payload");
            awaitStatus(app, "1", InboxStatus.PROCESSED, 1);
            app.awaitCaughtUp(this.group, this.topic);
            assertThat(app.bean(Effects.class).all()).containsExactly("secret-payload");
            assertThat(count(app, IdempotencyMeters.INBOX_UNRECORDED)).isEqualTo(1);
            assertThat(output).contains("could not be recorded in the inbox", "no_failures");
            assertThatNoPayloadIsIn(output);
        }
    }

    @Test
    void aMessageThatCannotBeKeptIsNotProcessedEither(CapturedOutput output) {
        try (TestApplication app = start(FAST, Fallible.class)) {
            app.jdbc().execute("alter table idempotency_inbox add constraint nothing check (status <> 'processed')");
            app.send(this.topic, "1", "secret-payload");
            assertThat(awaitStatus(app, "1", InboxStatus.FAILED, 3).lastError()).contains("nothing");
            app.awaitCaughtUp(this.group, this.topic);
            assertThat(app.bean(Effects.class).all()).isEmpty();
            assertThatNoPayloadIsIn(output);
        }
    }

    @Test
    void allMessagesOfABatchAreKept() {
        List<String> properties = List.of("spring.kafka.listener.type=batch", "idempotency.inbox.enabled=true");
        try (TestApplication app = start(properties, Batch.class)) {
            for (int i = 0; i < 20; i++) {
                app.send(this.topic, "id-" + i, "m" + i);
            }
            app.awaitCaughtUp(this.group, this.topic);
            Inbox inbox = app.bean(Inbox.class);
            assertThat(inbox.find(InboxQuery.ALL.withStatus(InboxStatus.PROCESSED))
                            .entries())
                    .hasSize(20);
            assertThat(message(app, "id-7").payload()).isEqualTo("m7".getBytes(StandardCharsets.UTF_8));
        }
    }

    @Test
    void ofABatchOnlyTheMessageThatFailedIsShownAsFailedAndItsReplayIsProcessed() {
        List<String> properties = List.of(
                "spring.kafka.listener.type=batch",
                "idempotency.inbox.enabled=true",
                "idempotency.errors.initial-interval=1ms",
                "idempotency.errors.max-interval=1ms",
                "idempotency.errors.max-attempts=2");
        try (TestApplication app = start(properties, Batch.class)) {
            app.bean(Batch.class).failAt("m3");
            for (int i = 0; i < 6; i++) {
                app.send(this.topic, "id-" + i, "m" + i);
            }
            app.awaitCaughtUp(this.group, this.topic);
            Inbox inbox = app.bean(Inbox.class);
            assertThat(inbox.find(InboxQuery.ALL.withStatus(InboxStatus.PROCESSED))
                            .entries())
                    .hasSize(5);
            assertThat(inbox.find(InboxQuery.ALL.withStatus(InboxStatus.FAILED)).entries())
                    .singleElement()
                    .satisfies(entry -> assertThat(entry.id()).isEqualTo(id("id-3")));
            app.bean(Batch.class).mend();
            assertThat(inbox.replayFailed(CONSUMER).sent()).isOne();
            app.awaitCaughtUp(this.group, this.topic);
            assertThat(app.bean(Effects.class).counts()).hasSize(6).allSatisfy((name, times) -> assertThat(times)
                    .isOne());
        }
    }

    @Test
    void deserializersThatTheConsumerFactoryWasGivenAsObjectsAreServedToo() {
        try (TestApplication app = start(FAST, Fallible.class, GivenDeserializers.class)) {
            app.send(this.topic, "1", "x");
            awaitStatus(app, "1", InboxStatus.PROCESSED, 1);
            assertThat(message(app, "1").payload()).isEqualTo("x".getBytes(StandardCharsets.UTF_8));
        }
    }

    @Test
    void theInboxIsAskedByStatusConsumerTypeAndTimeInPages() {
        try (TestApplication app = start(List.of("spring.kafka.listener.auto-startup=false"), Fallible.class)) {
            for (int i = 0; i < 10; i++) {
                app.jdbc()
                        .update(
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
            Inbox inbox = app.bean(Inbox.class);
            InboxPage first = inbox.find(InboxQuery.ALL.withPage(0, 4));
            assertThat(ids(first)).containsExactly("id-9", "id-8", "id-7", "id-6");
            assertThat(first.last()).isFalse();
            InboxPage last = inbox.find(InboxQuery.ALL.withPage(2, 4));
            assertThat(ids(last)).containsExactly("id-1", "id-0");
            assertThat(last.last()).isTrue();
            assertThat(inbox.find(InboxQuery.ALL.withPage(1, 5)).last()).isTrue();
            assertThat(ids(inbox.find(
                            InboxQuery.ALL.withStatus(InboxStatus.FAILED).withConsumer("a"))))
                    .containsExactly("id-6", "id-4", "id-2", "id-0");
            assertThat(ids(inbox.find(InboxQuery.ALL.withType("order").withStatus(InboxStatus.PROCESSED))))
                    .containsExactly("id-3", "id-1");
            assertThat(ids(inbox.find(InboxQuery.ALL.withTime(
                            Instant.parse("2026-01-03T00:00:00Z"), Instant.parse("2026-01-05T00:00:00Z")))))
                    .containsExactly("id-3", "id-2");
        }
    }

    private static List<String> ids(InboxPage page) {
        return page.entries().stream().map(entry -> entry.id().value()).toList();
    }

    @Test
    void processedAndFailedMessagesAreForgottenAfterTimesOfTheirOwn() {
        List<String> properties = List.of(
                "idempotency.cleanup.enabled=false",
                "idempotency.inbox.retention.processed=2d",
                "idempotency.inbox.retention.failed=10d");
        try (TestApplication app = start(properties, Fallible.class)) {
            Map<String, String> agesByStatus = Map.of("processed", "1,3", "failed", "3,9,11", "replayed", "9,11");
            agesByStatus.forEach((status, ages) -> {
                for (String age : ages.split(",")) {
                    app.jdbc()
                            .update(
                                    "insert into idempotency_inbox (consumer_id, message_id, status, record_topic, record_partition,"
                                            + " record_offset, record_headers, attempts, updated_at)"
                                            + " values (?, ?, ?, 't', 0, 0, '', 1, now() - ? * interval '1 day')",
                                    CONSUMER,
                                    status + age,
                                    status,
                                    Integer.parseInt(age));
                }
            });
            assertThat(app.bean(Cleanup.class).run().deletedByTask()).containsEntry("inbox", 3L);
            assertThat(app.jdbc()
                            .queryForList("select message_id from idempotency_inbox order by message_id", String.class))
                    .containsExactly("failed3", "failed9", "processed1", "replayed9");
        }
    }

    @Import(Effects.class)
    static class AnyPayload {

        @KafkaListener(topics = "${topic}", groupId = "${group}")
        @IdempotentListener(consumer = CONSUMER, inbox = true)
        void on(ConsumerRecord<String, Object> record) {}
    }

    /** As deserializers of JSON do: they remove the headers that told them the type. */
    public static final class HeaderRemovingDeserializer implements Deserializer<String> {

        @Override
        public String deserialize(String topic, byte[] data) {
            return "decoded";
        }

        @Override
        public String deserialize(String topic, Headers headers, byte[] data) {
            headers.remove("ce_type");
            return "decoded";
        }
    }

    @Import(Effects.class)
    static class Fallible {

        private final Effects effects;
        private final Map<String, AtomicInteger> failuresOf = new ConcurrentHashMap<>();

        Fallible(Effects effects) {
            this.effects = effects;
        }

        void failAt(String payload, int times) {
            this.failuresOf.put(payload, new AtomicInteger(times));
        }

        void mend() {
            this.failuresOf.clear();
        }

        @KafkaListener(topics = "${topic}", groupId = "${group}")
        @IdempotentListener(consumer = CONSUMER, inbox = true)
        void on(String payload) {
            this.effects.happen(payload);
            AtomicInteger failures = this.failuresOf.get(payload);
            if (failures != null && failures.getAndDecrement() > 0) {
                throw new IllegalStateException("failure " + (failures.get() + 1) + " left");
            }
        }
    }

    @Import(Effects.class)
    static class KeyedByCoordinates {

        private final Effects effects;
        private final AtomicInteger failures = new AtomicInteger();

        KeyedByCoordinates(Effects effects) {
            this.effects = effects;
        }

        void fail(int times) {
            this.failures.set(times);
        }

        @KafkaListener(topics = "${topic}", groupId = "${group}")
        @IdempotentListener(consumer = CONSUMER, key = "#coordinates", inbox = true)
        void on(String payload) {
            this.effects.happen(payload);
            if (this.failures.getAndDecrement() > 0) {
                throw new IllegalStateException("not yet");
            }
        }
    }

    @Import(Effects.class)
    static class Retried {

        private final Effects effects;
        private final AtomicInteger failures = new AtomicInteger();

        Retried(Effects effects) {
            this.effects = effects;
        }

        void fail(int times) {
            this.failures.set(times);
        }

        @RetryableTopic(attempts = "3", backOff = @BackOff(delay = 100))
        @KafkaListener(topics = "${topic}", groupId = "${group}")
        @IdempotentListener(consumer = CONSUMER, inbox = true)
        void on(String payload) {
            this.effects.happen(payload);
            if (this.failures.getAndDecrement() > 0) {
                throw new IllegalStateException("not yet");
            }
        }
    }

    @Import(Effects.class)
    static class Batch {

        private final Effects effects;
        private final Set<String> bad = ConcurrentHashMap.newKeySet();

        Batch(Effects effects) {
            this.effects = effects;
        }

        void failAt(String payload) {
            this.bad.add(payload);
        }

        void mend() {
            this.bad.clear();
        }

        @KafkaListener(topics = "${topic}", groupId = "${group}")
        @IdempotentListener(consumer = CONSUMER)
        void on(List<String> payloads) {
            for (int i = 0; i < payloads.size(); i++) {
                this.effects.happen(payloads.get(i));
                if (this.bad.contains(payloads.get(i))) {
                    throw new BatchListenerFailedException("bad", i);
                }
            }
        }
    }

    private static final class TextDeserializer implements Deserializer<Object> {

        @Override
        public Object deserialize(String topic, byte[] data) {
            return new String(data, StandardCharsets.UTF_8);
        }
    }

    static class GivenDeserializers {

        @Bean
        ConsumerFactory<Object, Object> consumerFactory(KafkaProperties properties, Environment environment) {
            Map<String, Object> configuration = properties.buildConsumerProperties();
            configuration.put("bootstrap.servers", environment.getRequiredProperty("spring.kafka.bootstrap-servers"));
            DefaultKafkaConsumerFactory<Object, Object> factory = new DefaultKafkaConsumerFactory<>(configuration);
            factory.setKeyDeserializerSupplier(TextDeserializer::new);
            factory.setValueDeserializer(new TextDeserializer());
            return factory;
        }
    }
}
