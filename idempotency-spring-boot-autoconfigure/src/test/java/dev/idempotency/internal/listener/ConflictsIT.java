package dev.idempotency.internal.listener;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import dev.idempotency.IdempotentListener;
import dev.idempotency.MessageConflictException;
import dev.idempotency.MessageId;
import dev.idempotency.RecordCoordinates;
import dev.idempotency.app.TopicContents;
import dev.idempotency.event.Conflict;
import dev.idempotency.inbox.Inbox;
import dev.idempotency.inbox.InboxEntry;
import dev.idempotency.inbox.InboxMessage;
import dev.idempotency.inbox.InboxQuery;
import dev.idempotency.inbox.InboxStatus;
import dev.idempotency.store.ProcessedMessageStore;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.kafka.annotation.BackOff;
import org.springframework.kafka.annotation.RetryableTopic;
import org.springframework.kafka.support.KafkaHeaders;

/** A message with the id of an earlier one but another payload is never dropped silently. */
@ExtendWith(OutputCaptureExtension.class)
@ListenersTest.Application
class ConflictsIT extends ListenersTest {

    private RecordCoordinates at(Class<? extends Listener> listener, long offset) {
        return new RecordCoordinates(topic(listener), 0, offset);
    }

    private List<InboxEntry> inboxOf(String consumer) {
        return this.app
                .bean(Inbox.class)
                .find(InboxQuery.ALL.withConsumer(consumer))
                .entries();
    }

    @Test
    void itIsDroppedCountedAndKeptAndTheConsumerIsWarnedOfOnceAMinute(CapturedOutput output) {
        deliver(Warned.class, "1:first", "1:first", "1:secret", "1:another");
        RecordCoordinates first = at(Warned.class, 0);
        RecordCoordinates third = at(Warned.class, 2);
        RecordCoordinates fourth = at(Warned.class, 3);
        assertThat(effects(Warned.class)).containsExactly("first");
        assertThat(outcomes(Warned.class).conflicts)
                .extracting(Conflict::coordinates, Conflict::original)
                .containsExactly(tuple(third, first), tuple(fourth, first));
        assertThat(outcomes(Warned.class).duplicates).hasSize(3);
        assertThat(output)
                .containsOnlyOnce("dropped " + third + " as a duplicate of " + first + ": it has the same id, 'a?1'")
                .doesNotContain("dropped " + fourth, "secret");
        assertThat(givenUp(Warned.class)).isEmpty();
        InboxMessage other = this.app.bean(Inbox.class).find(new MessageId("warned", "a\n1~conflict:" + third));
        assertThat(other.payload()).asString(StandardCharsets.UTF_8).isEqualTo("secret");
        assertThat(other.entry().lastError()).contains("MessageConflictException");
        assertThat(inboxOf("warned")).hasSize(3);
    }

    @Test
    void whereItIsNotLookedAtItIsDroppedAsADuplicateAndNothingIsKeptOfPayloads() {
        assertDelivered("Off", "1:first 1:other", "first", null);
        assertThat(outcomes(Off.class).conflicts).isEmpty();
        assertThat(this.app
                        .jdbc()
                        .queryForList(
                                "select payload_digest from idempotency_processed where consumer_id = 'off'",
                                Long.class))
                .containsOnlyNulls();
    }

    @Test
    void itIsKeptInTheInboxBesideTheOtherAndReplayedOnlyWhenThatIsForgotten() {
        deliver(Kept.class, "kept:first-kept", "kept:second-kept");
        InboxEntry entry = inboxOf("kept").stream()
                .filter(each -> each.id().value().startsWith("kept~conflict:"))
                .findFirst()
                .orElseThrow();
        assertThat(entry.status()).isEqualTo(InboxStatus.FAILED);
        Inbox inbox = this.app.bean(Inbox.class);
        assertThat(inbox.replayFailed("kept").sent()).isZero();
        assertThat(this.app.bean(ProcessedMessageStore.class).forget(new MessageId("kept", "kept")))
                .isTrue();
        inbox.replay(entry.id());
        deliver(Kept.class);
        assertThat(effects(Kept.class)).contains("first-kept", "second-kept");
    }

    @Test
    void aCopyThatWasProcessedInARetryTopicConflictsWithNothing() {
        deliver(Retried.class, "1:fails-once", "2:first", "2:other", "3:last");
        Awaitility.await()
                .untilAsserted(() -> assertThat(effects(Retried.class)).containsExactly("fails-once", "first", "last"));
        deliver(Retried.class, "1:as-if-serialized-otherwise");
        assertThat(outcomes(Retried.class).conflicts).hasSize(1);
        assertThat(givenUp(Retried.class)).containsExactly("other");
    }

    @ParameterizedTest
    @ValueSource(strings = {KafkaHeaders.DLT_EXCEPTION_FQCN, KafkaHeaders.DLT_EXCEPTION_CAUSE_FQCN})
    void aDeadLetterThatIsSentBackIsRefusedAgainByTheHeaderThatNamesItsFailure(String header) {
        deliver(Refusing.class, header + ":first " + header, header + ":" + header);
        List<ConsumerRecord<String, String>> letters = TopicContents.of(topic(Refusing.class) + "-dlt");
        ConsumerRecord<String, String> letter = letters.get(letters.size() - 1);
        letter.headers()
                .remove(KafkaHeaders.DLT_EXCEPTION_FQCN)
                .remove(KafkaHeaders.DLT_EXCEPTION_CAUSE_FQCN)
                .add(header, MessageConflictException.class.getName().getBytes(StandardCharsets.UTF_8));
        this.app.send(new ProducerRecord<>(topic(Refusing.class), 0, letter.key(), letter.value(), letter.headers()));
        deliver(Refusing.class);
        assertThat(effects(Refusing.class)).contains("first " + header).doesNotContain(header);
        assertThat(givenUp(Refusing.class)).endsWith(header, header);
    }

    @IdempotentListener(consumer = "warned", key = "'a\n' + #headers['message-id']", inbox = "true")
    static class Warned extends OfRecords {}

    @IdempotentListener(consumer = "off", onConflict = "off")
    static class Off extends OfRecords {}

    @IdempotentListener(consumer = "kept", onConflict = "fail", inbox = "true")
    static class Kept extends OfRecords {}

    @IdempotentListener(onConflict = "fail")
    static class Refusing extends OfRecords {}

    static class Retried extends Listener {

        @RetryableTopic(attempts = "2", backOff = @BackOff(delay = 50), autoStartDltHandler = "false")
        @OwnTopic
        @IdempotentListener(onConflict = "fail")
        void on(String payload) {
            happenAndFailOnceAt("fails-once", payload);
        }
    }
}
