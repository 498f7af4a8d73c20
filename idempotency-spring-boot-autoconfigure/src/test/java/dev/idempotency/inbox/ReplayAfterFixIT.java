package dev.idempotency.inbox;

import static dev.idempotency.inbox.InboxApplication.MAX_ATTEMPTS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.idempotency.MessageId;
import dev.idempotency.ReplayException;
import dev.idempotency.app.TopicContents;
import dev.idempotency.metrics.IdempotencyMeters;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

/** Messages that failed, or were forgotten on purpose, are sent once more. */
@ExtendWith({InboxApplication.Shared.class, OutputCaptureExtension.class})
class ReplayAfterFixIT {

    private final InboxApplication app;
    private final Inbox inbox;

    ReplayAfterFixIT(InboxApplication app) {
        this.app = app;
        this.inbox = app.inbox();
    }

    /** Of the consumer that most of these tests share, with ids that are their payloads. */
    private static MessageId fallible(String id) {
        return new MessageId("fallible", id);
    }

    @Test
    void whatWasDeadLetteredIsShownAsFailedAndReplayedAfterAFix(CapturedOutput output) {
        String consumer = "deadLettered";
        this.app.failAt("secret-payload", 1000);
        this.app.send(consumer, "1", "secret-payload");
        InboxEntry failed = this.app.awaitStatus(consumer, "1", InboxStatus.FAILED, MAX_ATTEMPTS);
        this.app.awaitCaughtUp(consumer);
        assertThat(TopicContents.values(this.app.topic(consumer) + "-dlt")).containsExactly("secret-payload");
        assertThat(failed.lastError()).startsWith("java.lang.IllegalStateException: failure");
        assertThat(failed.processedAt()).isNull();

        this.app.failAt("secret-payload", 0);
        this.inbox.replay(new MessageId(consumer, "1"));
        InboxEntry processed = this.app.awaitStatus(consumer, "1", InboxStatus.PROCESSED, MAX_ATTEMPTS + 1);
        assertThat(processed.replays()).isOne();
        assertThat(processed.record()).isEqualTo(failed.record());
        assertThat(this.app.effects("secret-payload")).containsExactly("secret-payload");
        assertThat(this.app.count(consumer, IdempotencyMeters.INBOX_REPLAYS)).isEqualTo(1);
        assertThat(output).contains("Replayed message '1' of consumer '" + consumer + "'");
        List<ConsumerRecord<String, String>> records = TopicContents.of(this.app.topic(consumer));
        assertThat(records).hasSize(2);
        assertThat(records.get(1).value()).isEqualTo("secret-payload");
        assertThat(records.get(1).headers().lastHeader("message-id").value())
                .isEqualTo("1".getBytes(StandardCharsets.UTF_8));
        assertThat(output.getAll()).doesNotContain("secret-payload");
    }

    @Test
    void aReplayThatFailsIsFailedAgainAndCanBeReplayedAgain() {
        this.app.failAt("again", MAX_ATTEMPTS + 1);
        this.app.send("fallible", "again", "again");
        this.app.awaitStatus("fallible", "again", InboxStatus.FAILED, MAX_ATTEMPTS);
        this.app.awaitCaughtUp("fallible");
        this.inbox.replay(fallible("again"));
        InboxEntry entry = this.app.awaitStatus("fallible", "again", InboxStatus.PROCESSED, MAX_ATTEMPTS + 2);
        assertThat(entry.replays()).isOne();
        assertThat(this.app.effects("again")).containsExactly("again");
    }

    @Test
    void allFailedMessagesOfAConsumerAreReplayedInTheirOrderAndOnlyOnce() {
        for (int i = 0; i < 5; i++) {
            this.app.failAt("many " + i, MAX_ATTEMPTS);
            this.app.send("many", "id-" + i, "many " + i);
        }
        this.app.send("many", "good", "many good");
        this.app.awaitCaughtUp("many");
        assertThat(this.app.entries("many", InboxStatus.FAILED)).hasSize(5);
        assertThat(this.inbox.replayFailed("many")).isEqualTo(new ReplayResult(5, 0, 0));
        assertThat(this.inbox.replayFailed("many")).isEqualTo(new ReplayResult(0, 0, 0));
        this.app.awaitCaughtUp("many");
        assertThat(this.app.effects("many "))
                .containsExactlyInAnyOrder("many 0", "many 1", "many 2", "many 3", "many 4", "many good");
        assertThat(TopicContents.values(this.app.topic("many")).subList(6, 11))
                .containsExactly("many 0", "many 1", "many 2", "many 3", "many 4");
        assertThat(this.inbox.replayFailed("nobody")).isEqualTo(new ReplayResult(0, 0, 0));
    }

    @Test
    void aProcessedMessageIsReplayedOnlyWhenItIsForgottenOnPurpose() {
        this.app.send("fallible", "twice", "twice");
        this.app.awaitStatus("fallible", "twice", InboxStatus.PROCESSED, 1);
        assertThatExceptionOfType(ReplayException.class)
                .isThrownBy(() -> this.inbox.replay(fallible("twice")))
                .withMessageContaining("has been processed")
                .withMessageContaining("Forget it on purpose");
        assertThatExceptionOfType(ReplayException.class)
                .isThrownBy(() -> this.inbox.replay(fallible("unknown")))
                .withMessageContaining("not in the inbox");
        this.inbox.forgetAndReplay(fallible("twice"));
        this.app.awaitStatus("fallible", "twice", InboxStatus.PROCESSED, 2);
        assertThat(this.app.effects("twice")).containsExactly("twice", "twice");
    }

    @Test
    void aForgottenMessageThatFailsWhenItIsReplayedIsNoLongerShownAsProcessed() {
        this.app.send("fallible", "once", "once");
        this.app.awaitStatus("fallible", "once", InboxStatus.PROCESSED, 1);
        this.app.failAt("once", 1000);
        this.inbox.forgetAndReplay(fallible("once"));
        assertThat(this.app
                        .awaitStatus("fallible", "once", InboxStatus.FAILED, 1 + MAX_ATTEMPTS)
                        .processedAt())
                .isNull();
    }

    @Test
    void aMessageWhoseKeyAreItsCoordinatesKeepsThemWhenItIsReplayed() {
        this.app.failAt("keyless", MAX_ATTEMPTS);
        this.app.send("coordinates", null, "keyless");
        this.app.awaitCaughtUp("coordinates");
        assertThat(this.inbox.replayFailed("coordinates").sent()).isOne();
        this.app.awaitCaughtUp("coordinates");
        assertThat(this.inbox.find(InboxQuery.ALL.withConsumer("coordinates")).entries())
                .singleElement()
                .satisfies(entry -> assertThat(entry.status()).isEqualTo(InboxStatus.PROCESSED));
        assertThat(this.app.effects("keyless")).containsExactly("keyless");
    }
}
