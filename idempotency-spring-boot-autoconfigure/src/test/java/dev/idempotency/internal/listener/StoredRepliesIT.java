package dev.idempotency.internal.listener;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.app.HasEffects;
import dev.idempotency.app.OfKind;
import dev.idempotency.app.SharedApplicationTest;
import dev.idempotency.app.TestApplication;
import dev.idempotency.app.TopicContents;
import dev.idempotency.key.MessageIdHeader;
import java.nio.charset.StandardCharsets;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.kafka.support.KafkaHeaders;
import org.springframework.messaging.handler.annotation.SendTo;

/** Replies that are stored with the claim, and sent again for duplicates of their requests. */
@ExtendWith(OutputCaptureExtension.class)
class StoredRepliesIT extends SharedApplicationTest {

    private static final int LIMIT = 1000;

    static class Listeners extends HasEffects {

        @OfKind(value = "requests", storeReply = true)
        @SendTo
        String onRequest(String payload) {
            this.effects.happen("requests " + payload);
            return payload + " is number " + this.effects.all().size();
        }

        @OfKind(value = "forwarded", storeReply = true)
        @SendTo("copies${suffix}")
        List<String> onForwarded(String payload) {
            this.effects.happen("forwarded " + payload);
            return List.of(payload + " 1", payload + " 2");
        }

        static class Unwritable {

            public String getText() {
                throw new IllegalStateException("no text");
            }
        }

        @OfKind(value = "odd", storeReply = true)
        @SendTo("answers${suffix}")
        @Nullable
        List<Object> onOdd(String payload) {
            this.effects.happen("odd " + payload);
            return payload.equals("unwritable") ? List.of(new Unwritable()) : null;
        }

        /** Sends the reply to a topic that rejects it at first. */
        @OfKind(value = "large", storeReply = true)
        @SendTo("large-replies${suffix}")
        String onLarge(String payload) {
            this.effects.happen("large " + payload);
            return payload + "!".repeat(LIMIT);
        }
    }

    @BeforeAll
    void start(CapturedOutput output) {
        createTopics(1, "requests", "replies", "forwarded", "copies", "answers", "odd", "large", "large-replies");
        start(Listeners.class, "idempotency.errors.max-attempts=3", "idempotency.producer.stamp-ids=true");
        assertThat(output.getAll()).doesNotContain("[reply]").doesNotContain("the reply is never sent");
    }

    private void request(String id, String correlation) {
        ProducerRecord<String, String> request = TestApplication.message(topic("requests"), null, id, id);
        request.headers()
                .add(KafkaHeaders.REPLY_TOPIC, topic("replies").getBytes(StandardCharsets.UTF_8))
                .add(KafkaHeaders.CORRELATION_ID, correlation.getBytes(StandardCharsets.UTF_8));
        this.app.send(request);
    }

    @Test
    void theDuplicateOfARequestIsGivenTheFirstReplyAgain() {
        request("a", "first");
        request("b", "second");
        request("a", "third");
        awaitCaughtUp("requests");

        List<ConsumerRecord<String, String>> replies = TopicContents.of(topic("replies"));
        assertThat(replies)
                .extracting(reply -> new String(
                        reply.headers().lastHeader(KafkaHeaders.CORRELATION_ID).value(), StandardCharsets.UTF_8))
                .containsExactly("first", "second", "third");
        assertThat(replies.get(2).value()).isEqualTo(replies.get(0).value()).startsWith("a is number ");
        assertThat(effectsOf("requests")).containsExactly("requests a", "requests b");
    }

    @Test
    void aResultThatIsSentToATopicIsSentThereAgain() {
        send("forwarded", "x", "y", "x");
        awaitCaughtUp("forwarded");

        assertThat(effectsOf("forwarded"))
                .contains("forwarded x", "forwarded y")
                .doesNotHaveDuplicates();
        Awaitility.await("all copies").untilAsserted(() -> assertThat(TopicContents.values(topic("copies")))
                .filteredOn(copy -> !copy.startsWith("z"))
                .containsExactly("x 1", "x 2", "y 1", "y 2", "x 1", "x 2"));
        Map<String, Set<String>> ids = new TreeMap<>();
        TopicContents.of(topic("copies")).forEach(copy -> ids.computeIfAbsent(copy.value(), value -> new HashSet<>())
                .add(new String(
                        copy.headers().lastHeader(MessageIdHeader.HEADER).value(), StandardCharsets.UTF_8)));
        assertThat(ids.values())
                .as("the ids that they are stamped with: one a reply, however often it is sent")
                .allMatch(its -> its.size() == 1)
                .doesNotHaveDuplicates();
    }

    @Test
    void noReplyIsKeptAsNoneAndOneThatCannotBeWrittenFailsItsMessage() {
        send("odd", "none", "unwritable", "none");
        awaitCaughtUp("odd");

        assertThat(effectsOf("odd")).containsExactly("odd none");
        assertThat(TopicContents.values(topic("odd") + "-dlt")).containsExactly("unwritable");
    }

    @Test
    void aReplyThatIsAlwaysRefusedMakesItsRequestADeadLetter() throws Exception {
        limitMessageSize(topic("large-replies"), String.valueOf(LIMIT));
        send("large", "often");
        awaitCaughtUp("large");
        assertThat(TopicContents.values(topic("large") + "-dlt")).contains("often");
        assertThat(TopicContents.values(topic("large-replies"))).isEmpty();

        limitMessageSize(topic("large-replies"), "100000");
        send("large", "often");
        awaitCaughtUp("large");

        assertThat(TopicContents.values(topic("large-replies"))).hasSize(1);
        assertThat(effectsOf("large")).filteredOn("large often"::equals).hasSize(1);
    }

    @Test
    void aDuplicateWhoseReplyIsNoLongerKeptIsDroppedAndSaidSo(CapturedOutput output) {
        send("forwarded", "z");
        awaitCaughtUp("forwarded");
        this.app.jdbc().update("delete from idempotency_result where consumer_id = 'forwarded' and message_id = 'z'");

        send("forwarded", "z");
        awaitCaughtUp("forwarded");

        assertThat(output.getAll()).contains("A duplicate of forwarded:z is not answered");
        assertThat(effectsOf("forwarded")).filteredOn("forwarded z"::equals).hasSize(1);
    }
}
