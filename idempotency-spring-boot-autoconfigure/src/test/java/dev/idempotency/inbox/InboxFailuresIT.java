package dev.idempotency.inbox;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.MessageId;
import dev.idempotency.app.TopicContents;
import dev.idempotency.metrics.IdempotencyMeters;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import org.apache.kafka.common.header.Header;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

/** What the inbox tells of attempts that failed, and what it does where it fails itself. */
@ExtendWith({InboxApplication.Shared.class, OutputCaptureExtension.class})
class InboxFailuresIT {

    private final InboxApplication app;

    InboxFailuresIT(InboxApplication app) {
        this.app = app;
    }

    /** Neither as text nor as databases write binary values. */
    private static void assertThatNoPayloadIsIn(CapturedOutput output) {
        byte[] secret = "secret-payload".getBytes(StandardCharsets.UTF_8);
        assertThat(output.getAll())
                .doesNotContain("secret-payload", HexFormat.of().formatHex(secret));
    }

    @Test
    void aListenerThatFailsThreeTimesAndThenSucceedsHasFourAttemptsAndTheLastError() {
        this.app.failAt("paid", 3);
        this.app.send("fallible", "paid", "paid");
        InboxEntry entry = this.app.awaitStatus("fallible", "paid", InboxStatus.PROCESSED, 4);
        assertThat(entry.lastError()).startsWith("java.lang.IllegalStateException: failure 1 left");
        assertThat(this.app.effects("paid")).containsExactly("paid");
    }

    @Test
    void attemptsInRetryTopicsAreAttemptsAtTheSameMessageAndItsReplayBeginsAnew() {
        this.app.failAt("retried", 5);
        this.app.send("retried", "1", "retried");
        InboxEntry failed = this.app.awaitStatus("retried", "1", InboxStatus.FAILED, 3);
        assertThat(failed.record().topic()).isEqualTo(this.app.topic("retried"));
        Awaitility.await("dead letter").atMost(Duration.ofSeconds(30)).untilAsserted(() -> assertThat(
                        TopicContents.values(this.app.topic("retried") + "-dlt"))
                .hasSize(1));
        this.app.inbox().replay(new MessageId("retried", "1"));
        this.app.awaitStatus("retried", "1", InboxStatus.PROCESSED, 6);
        assertThat(this.app.effects("retried")).containsExactly("retried");
        assertThat(this.app.message("retried", "1").headers())
                .extracting(Header::key)
                .containsExactly("message-id");
    }

    @Test
    void ofABatchOnlyTheMessageThatFailedIsShownAsFailedAndItsReplayIsProcessed() {
        this.app.failAt("part 3", 1000);
        for (int i = 0; i < 6; i++) {
            this.app.send("faultyBatch", "id-" + i, "part " + i);
        }
        this.app.awaitCaughtUp("faultyBatch");
        assertThat(this.app.entries("faultyBatch", InboxStatus.PROCESSED)).hasSize(5);
        assertThat(this.app.entries("faultyBatch", InboxStatus.FAILED))
                .singleElement()
                .satisfies(entry -> assertThat(entry.id()).isEqualTo(new MessageId("faultyBatch", "id-3")));
        this.app.failAt("part 3", 0);
        assertThat(this.app.inbox().replayFailed("faultyBatch").sent()).isOne();
        this.app.awaitCaughtUp("faultyBatch");
        assertThat(this.app.effects("part "))
                .isEqualTo(List.of("part 0", "part 1", "part 2", "part 3", "part 4", "part 5"));
    }

    @Test
    void aFailureThatCannotBeRecordedChangesNothingElse(CapturedOutput output) {
        refuse("no_failures", "unrecorded", InboxStatus.FAILED);
        this.app.failAt("unrecorded secret-payload", 1);
        this.app.send("unrecorded", "1", "unrecorded secret-payload");
        this.app.awaitStatus("unrecorded", "1", InboxStatus.PROCESSED, 1);
        this.app.awaitCaughtUp("unrecorded");
        assertThat(this.app.effects("unrecorded secret-payload")).containsExactly("unrecorded secret-payload");
        assertThat(this.app.count("unrecorded", IdempotencyMeters.INBOX_UNRECORDED))
                .isEqualTo(1);
        assertThat(output).contains("could not be recorded in the inbox", "no_failures");
        assertThatNoPayloadIsIn(output);
    }

    @Test
    void aMessageThatCannotBeKeptIsNotProcessedEither(CapturedOutput output) {
        refuse("nothing", "unkept", InboxStatus.PROCESSED);
        this.app.send("unkept", "1", "unkept secret-payload");
        assertThat(this.app
                        .awaitStatus("unkept", "1", InboxStatus.FAILED, InboxApplication.MAX_ATTEMPTS)
                        .lastError())
                .contains("nothing");
        this.app.awaitCaughtUp("unkept");
        assertThat(this.app.effects("unkept secret-payload")).isEmpty();
        assertThatNoPayloadIsIn(output);
    }

    private void refuse(String constraint, String consumer, InboxStatus status) {
        this.app
                .application()
                .jdbc()
                .execute("alter table idempotency_inbox add constraint %s check (consumer_id <> '%s' or status <> '%s')"
                        .formatted(constraint, consumer, status.name().toLowerCase(Locale.ROOT)));
    }
}
