package dev.idempotency.internal.producer;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.IdempotencyContext;
import dev.idempotency.app.HasEffects;
import dev.idempotency.app.OfKind;
import dev.idempotency.app.SharedApplicationTest;
import dev.idempotency.app.TopicContents;
import dev.idempotency.key.MessageIdHeader;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.kafka.core.KafkaTemplate;
import org.springframework.kafka.core.ProducerFactory;

/** Ids that templates stamp, as those find them who receive the messages. */
class StampedIdsIT extends SharedApplicationTest {

    @BeforeAll
    void start() {
        createTopics(1, "in", "out", "batch", "batch-out");
        start(
                Sending.class,
                "idempotency.producer.stamp-ids=true",
                "idempotency.errors.max-attempts=3",
                "spring.kafka.consumer.group-id=group");
    }

    /** The ids of the records in a topic whose value begins like this. */
    private static List<String> idsIn(String topic, String prefix) {
        return TopicContents.of(topic).stream()
                .filter(record -> record.value().startsWith(prefix))
                .map(record -> record.headers().lastHeader(MessageIdHeader.HEADER))
                .map(header -> (header != null) ? new String(header.value(), StandardCharsets.UTF_8) : "none")
                .toList();
    }

    @Test
    void aRepeatedAttemptOfAListenerSendsTheSameIds() {
        send("in", "fails once");
        awaitCaughtUp("in");

        List<String> ids = idsIn(topic("out"), "fails once");
        assertThat(ids).hasSize(8);
        assertThat(ids.subList(4, 8))
                .as("what was sent in the second attempt, before its commit too")
                .isEqualTo(ids.subList(0, 4))
                .doesNotHaveDuplicates();
    }

    @Test
    @SuppressWarnings("unchecked")
    void aDeadLetterIsAsItCameWithItsIdOrWithoutOne() throws Exception {
        // Until a message with an id has been processed, one without waits.
        send("in", "has an id", "fails for good");
        new KafkaTemplate<Object, Object>(this.app.bean(ProducerFactory.class))
                .send(topic("in"), "has no id")
                .get(30, TimeUnit.SECONDS);
        awaitCaughtUp("in");

        assertThat(idsIn(topic("in") + "-dlt", "fails for good")).containsExactly("fails for good");
        assertThat(idsIn(topic("in") + "-dlt", "has no id")).containsExactly("none");
    }

    @Test
    void aBatchNamesTheMessageThatAnIdIsDerivedFrom() {
        send("batch", "a", "fails once b");
        containerOf("batch").start();
        awaitCaughtUp("batch");

        assertThat(effectsOf("batch")).containsExactly("batch a", "batch fails once b");
        List<String> ids = idsIn(topic("batch-out"), "named a");
        assertThat(ids).hasSizeGreaterThan(1).containsOnly(ids.get(0));
    }

    static class Sending extends HasEffects {

        private final Set<String> failed = ConcurrentHashMap.newKeySet();
        private final KafkaTemplate<Object, Object> template;
        private final String suffix;

        Sending(KafkaTemplate<Object, Object> template, @Value("${suffix}") String suffix) {
            this.template = template;
            this.suffix = suffix;
        }

        private void failIfAsked(String payload) {
            if (payload.startsWith("fails for good") || payload.startsWith("fails once") && this.failed.add(payload)) {
                throw new IllegalStateException(payload);
            }
        }

        @OfKind("in")
        void on(String payload) {
            this.effects.happen("in " + payload);
            for (String key : new String[] {"a", "a", "b"}) {
                this.template.send("out" + this.suffix, key, payload).join();
            }
            beforeCommit(() -> {
                this.template
                        .send("out" + this.suffix, "a", payload + " before commit")
                        .join();
                failIfAsked(payload);
            });
        }

        @OfKind(value = "batch", autoStartup = "false", batch = "true")
        void onBatch(List<String> payloads) {
            for (int i = 0; i < payloads.size(); i++) {
                String payload = payloads.get(i);
                this.effects.happen("batch " + payload);
                // tag::batch[]
                String id = IdempotencyContext.current().deriveKey(i, "forwarded");
                this.template
                        .send(MessageIdHeader.stamp(
                                new ProducerRecord<>("batch-out" + this.suffix, "named " + payload), id))
                        .join();
                // end::batch[]
                failIfAsked(payload);
            }
        }
    }
}
