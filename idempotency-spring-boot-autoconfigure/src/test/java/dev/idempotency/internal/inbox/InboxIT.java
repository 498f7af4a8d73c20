package dev.idempotency.internal.inbox;

import static dev.idempotency.app.Operators.assertRefused;
import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.MessageId;
import dev.idempotency.app.HasEffects;
import dev.idempotency.app.OfKind;
import dev.idempotency.app.SharedApplicationTest;
import dev.idempotency.app.TestApplication;
import dev.idempotency.app.TopicContents;
import dev.idempotency.inbox.Inbox;
import dev.idempotency.inbox.Inbox.ReplayResult;
import dev.idempotency.inbox.InboxEntry;
import dev.idempotency.inbox.InboxMessage;
import dev.idempotency.inbox.InboxQuery;
import dev.idempotency.inbox.InboxStatus;
import dev.idempotency.metrics.IdempotencyMeters;
import dev.idempotency.retention.Cleanup;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.header.Header;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Import;
import org.springframework.kafka.annotation.BackOff;
import org.springframework.kafka.annotation.RetryableTopic;
import org.springframework.kafka.listener.BatchListenerFailedException;

/** An application with an inbox; each kind of listener is a consumer with a separate topic. */
@ExtendWith(OutputCaptureExtension.class)
class InboxIT extends SharedApplicationTest {

    private static final int MAX_PAYLOAD = 5000;

    private Inbox inbox;

    @BeforeAll
    void start() {
        createTopics(1, "any", "unkept", "large", "batch", "fallible", "fixed", "retried");
        createTopics(1, "left", "others");
        start(
                Listeners.class,
                "idempotency.inbox.enabled=true",
                "idempotency.inbox.max-payload=" + MAX_PAYLOAD + "B",
                "idempotency.inbox.retention.processed=2d",
                "idempotency.inbox.retention.failed=10d",
                "idempotency.cleanup.enabled=false",
                "idempotency.errors.max-attempts=2");
        this.inbox = this.app.bean(Inbox.class);
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    private void sendAndAwait(String kind, String id, String payload) {
        this.app.send(topic(kind), id, payload);
        awaitCaughtUp(kind);
    }

    private void failAt(String payload, int times) {
        this.app.bean(Listeners.class).failAt(payload, times);
    }

    private InboxMessage message(String consumer, String id) {
        InboxMessage message = this.inbox.find(new MessageId(consumer, id));
        assertThat(message).as("message %s of %s", id, consumer).isNotNull();
        return message;
    }

    private InboxEntry assertEntry(String consumer, String id, InboxStatus status, int attempts) {
        InboxEntry entry = message(consumer, id).entry();
        assertThat(entry.status()).isEqualTo(status);
        assertThat(entry.attempts()).isEqualTo(attempts);
        return entry;
    }

    private List<InboxEntry> entries(String consumer, InboxStatus status) {
        return this.inbox
                .find(InboxQuery.ALL.withConsumer(consumer).withStatus(status))
                .entries();
    }

    private double count(String consumer, String meter) {
        MeterRegistry registry = this.app.bean(MeterRegistry.class);
        return registry.get(meter)
                .tag(IdempotencyMeters.CONSUMER, consumer)
                .counter()
                .count();
    }

    /** Checks for the payload as text and in hexadecimal, as databases write binary values. */
    private static void assertThatNoPayloadIsIn(CapturedOutput output) {
        assertThat(output.getAll())
                .doesNotContain("secret-payload", HexFormat.of().formatHex(bytes("secret-payload")));
    }

    @Test
    void aListenerOfItsOwnMindKeepsNothing() {
        sendAndAwait("unkept", "1", "a");
        assertThat(this.inbox.find(new MessageId("unkept", "1"))).isNull();
    }

    @Test
    void aPayloadBeyondTheLimitIsLeftOutAndCannotBeReplayed() {
        String kept = "x".repeat(MAX_PAYLOAD);
        failAt(kept + "x", 2);
        sendAndAwait("large", "1", kept + "x");
        sendAndAwait("large", "2", kept);
        assertThat(message("large", "2").payload()).hasSize(MAX_PAYLOAD);
        InboxMessage large = message("large", "1");
        assertThat(large.payload()).isNull();
        assertThat(large.entry().payloadSize()).isEqualTo(MAX_PAYLOAD + 1);
        assertThat(large.entry().payloadOmitted()).isEqualTo("too large");
        assertRefused(
                () -> this.inbox.replay(new MessageId("large", "1")),
                "payload was not kept (too large)",
                "idempotency.inbox.max-payload");
        assertThat(this.inbox.replayFailed("large")).isEqualTo(new ReplayResult(0, 0, 1));
    }

    @Test
    void processedAndFailedMessagesAreForgottenAfterTimesOfTheirOwn() {
        sendAndAwait("any", "here", "so that the consumer is known");
        Map<String, String> agesByStatus = Map.of("processed", "1,3", "failed", "3,9,11", "replayed", "9,11");
        agesByStatus.forEach((status, ages) -> {
            for (String age : ages.split(",")) {
                this.app.jdbc().update("""
                                insert into idempotency_inbox (consumer_id, message_id, status, record_topic,
                                    record_partition, record_offset, record_headers, attempts, updated_at)
                                values ('any', ?, ?, 'cleaned', 0, 0, '', 1, now() - ? * interval '1 day')
                                """, status + age, status, Integer.parseInt(age));
            }
        });
        assertThat(this.app.bean(Cleanup.class).run().deletedByTask()).containsEntry("inbox", 3L);
        String left = "select message_id from idempotency_inbox where record_topic = 'cleaned' order by 1";
        assertThat(this.app.jdbc().queryForList(left, String.class))
                .containsExactly("failed3", "failed9", "processed1", "replayed9");
    }

    @Test
    void attemptsInRetryTopicsAreAttemptsAtTheSameMessageAndItsReplayBeginsAnew() {
        failAt("retried", 5);
        this.app.send(topic("retried"), "1", "retried");
        Awaitility.await("dead letter").untilAsserted(() -> assertThat(TopicContents.values(topic("retried") + "-dlt"))
                .hasSize(1));
        InboxEntry failed = assertEntry("retried", "1", InboxStatus.FAILED, 3);
        assertThat(failed.record().topic()).isEqualTo(topic("retried"));
        this.inbox.replay(new MessageId("retried", "1"));
        Awaitility.await("processed")
                .until(() -> message("retried", "1").entry().status() == InboxStatus.PROCESSED);
        assertEntry("retried", "1", InboxStatus.PROCESSED, 6);
        assertEffects("retried", "retried retried");
        assertThat(message("retried", "1").headers()).extracting(Header::key).containsExactly("message-id");
    }

    @Test
    void ofABatchOnlyTheMessageThatFailedIsShownAsFailedAndItsReplayIsProcessed() {
        failAt("part 3", 1000);
        for (int i = 0; i < 6; i++) {
            this.app.send(topic("batch"), "id-" + i, "part " + i);
        }
        awaitCaughtUp("batch");
        assertThat(entries("batch", InboxStatus.PROCESSED)).hasSize(5);
        assertThat(entries("batch", InboxStatus.FAILED))
                .extracting(InboxEntry::id)
                .containsExactly(new MessageId("batch", "id-3"));
        failAt("part 3", 0);
        assertThat(this.inbox.replayFailed("batch").sent()).isOne();
        awaitCaughtUp("batch");
        assertThat(effectsOf("batch")).hasSize(6).doesNotHaveDuplicates();
    }

    @Test
    void aFailureThatCannotBeRecordedChangesNothingElse(CapturedOutput output) {
        refuse("no_failures", InboxStatus.FAILED);
        failAt("secret-payload unrecorded", 1);
        sendAndAwait("fallible", "no_failures", "secret-payload unrecorded");
        assertEntry("fallible", "no_failures", InboxStatus.PROCESSED, 1);
        assertThat(effectsOf("fallible")).containsOnlyOnce("fallible secret-payload unrecorded");
        assertThat(count("fallible", IdempotencyMeters.INBOX_UNRECORDED)).isEqualTo(1);
        assertThat(output).contains("could not be recorded in the inbox", "no_failures");
        assertThatNoPayloadIsIn(output);
    }

    @Test
    void aMessageThatCannotBeKeptIsNotProcessedEither(CapturedOutput output) {
        refuse("no_successes", InboxStatus.PROCESSED);
        sendAndAwait("fallible", "no_successes", "secret-payload unkept");
        assertThat(assertEntry("fallible", "no_successes", InboxStatus.FAILED, 2)
                        .lastError())
                .contains("no_successes");
        assertThat(effectsOf("fallible")).doesNotContain("fallible secret-payload unkept");
        assertThatNoPayloadIsIn(output);
    }

    private void refuse(String id, InboxStatus status) {
        String sql =
                "alter table idempotency_inbox add constraint %1$s check (message_id <> '%1$s' or status <> '%2$s')";
        this.app.jdbc().execute(sql.formatted(id, status));
    }

    @Test
    void whatWasDeadLetteredIsShownAsFailedAndReplayedAfterAFix(CapturedOutput output) {
        failAt("secret-payload", 3);
        sendAndAwait("fixed", "fixed", "secret-payload");
        InboxEntry failed = assertEntry("fixed", "fixed", InboxStatus.FAILED, 2);
        assertThat(TopicContents.values(topic("fixed") + "-dlt")).contains("secret-payload");
        assertThat(failed.lastError()).startsWith("java.lang.IllegalStateException: told to fail");
        assertThat(failed.processedAt()).isNull();
        double replays = count("fixed", IdempotencyMeters.INBOX_REPLAYS);
        this.inbox.replay(new MessageId("fixed", "fixed"));
        awaitCaughtUp("fixed");
        InboxEntry processed = assertEntry("fixed", "fixed", InboxStatus.PROCESSED, 4);
        assertThat(processed.lastError()).contains("told to fail");
        assertThat(processed.replays()).isOne();
        assertThat(processed.record()).isEqualTo(failed.record());
        assertThat(effectsOf("fixed")).containsOnlyOnce("fixed secret-payload");
        assertThat(count("fixed", IdempotencyMeters.INBOX_REPLAYS)).isEqualTo(replays + 1);
        assertThat(output)
                .contains(
                        "attempt 1: java.lang.IllegalStateException: told to fail", "\tat " + Listeners.class.getName())
                .contains("Replayed message 'fixed' of consumer 'fixed'");
        assertThatNoPayloadIsIn(output);
    }

    private void insertFailed(String consumer, String id, String topic, int partition, byte[] payload) {
        this.app.jdbc().update("""
                        insert into idempotency_inbox (consumer_id, message_id, status, record_topic, record_partition,
                            record_offset, record_headers, payload, payload_size, attempts)
                        values (?, ?, 'failed', ?, ?, 0, '', ?, ?, 1)
                        """, consumer, id, topic, partition, payload, payload.length);
    }

    @Test
    void aMessageWhoseTopicOrPartitionIsGoneDoesNotKeepOthersFromBeingReplayed(CapturedOutput output) {
        insertFailed("gone", "partition", topic("left"), 7, bytes("x"));
        insertFailed("gone", "topic", topic("gone"), 0, bytes("x"));
        insertFailed("gone", "here", topic("others"), 0, bytes("x"));
        insertFailed("gone", "there", topic("left"), 0, bytes("x"));
        assertThat(this.inbox.replayFailed("gone")).isEqualTo(new ReplayResult(2, 2, 0));
        assertThat(TopicContents.values(topic("left"))).containsExactly("x");
        assertEntry("gone", "partition", InboxStatus.FAILED, 1);
        assertThat(output).contains("no longer a partition 7 of topic", "no longer a topic");
    }

    @Import({SimpleMeterRegistry.class, TestApplication.WithJpa.class})
    static class Listeners extends HasEffects {

        private final Map<String, AtomicInteger> failures = new ConcurrentHashMap<>();
        /** A method rather than field access, as the bean is a proxy. */
        void failAt(String payload, int times) {
            this.failures.put(payload, new AtomicInteger(times));
        }

        private boolean fails(String payload) {
            AtomicInteger left = this.failures.get(payload);
            return left != null && left.getAndDecrement() > 0;
        }

        private void work(String kind, String payload) {
            this.effects.happen(kind + " " + payload.substring(0, Math.min(payload.length(), 100)));
            if (fails(payload)) {
                throw new IllegalStateException("told to fail");
            }
        }

        @OfKind("any")
        void any(ConsumerRecord<String, Object> record) {}

        @OfKind(value = "unkept", inbox = "false")
        void unkept(String payload) {}

        @OfKind(value = "large", inbox = "true")
        void large(String payload) {
            work("large", payload);
        }

        @OfKind(value = "batch", batch = "true")
        void batch(List<String> payloads) {
            for (int i = 0; i < payloads.size(); i++) {
                this.effects.happen("batch " + payloads.get(i));
                if (fails(payloads.get(i))) {
                    throw new BatchListenerFailedException("bad", i);
                }
            }
        }

        @OfKind("fallible")
        void fallible(String payload) {
            work("fallible", payload);
        }

        @OfKind("fixed")
        void fixed(String payload) {
            work("fixed", payload);
        }

        @RetryableTopic(attempts = "3", backOff = @BackOff(delay = 100))
        @OfKind("retried")
        void retried(String payload) {
            work("retried", payload);
        }
    }
}
