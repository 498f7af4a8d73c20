package dev.idempotency.internal.producer;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.app.HasEffects;
import dev.idempotency.app.OfKind;
import dev.idempotency.app.SharedApplicationTest;
import dev.idempotency.app.TopicContents;
import dev.idempotency.key.MessageIdHeader;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.kafka.core.KafkaTemplate;

/** Ids that templates stamp, as seen by receivers of the messages. */
class StampedIdsIT extends SharedApplicationTest {

    @BeforeAll
    void start() {
        createTopics(1, "in", "out");
        start(
                Sending.class,
                "idempotency.producer.stamp-ids=true",
                "idempotency.errors.max-attempts=3",
                "spring.kafka.consumer.group-id=group");
    }

    @Test
    void aRepeatedAttemptOfAListenerSendsTheSameIds() {
        send("in", "fails once");
        awaitCaughtUp("in");

        List<String> ids = TopicContents.of(topic("out")).stream()
                .map(record -> record.headers().lastHeader(MessageIdHeader.HEADER))
                .map(header -> new String(header.value(), StandardCharsets.UTF_8))
                .toList();
        assertThat(ids).hasSize(8);
        assertThat(ids.subList(4, 8))
                .as("what was sent in the second attempt, before its commit too")
                .isEqualTo(ids.subList(0, 4))
                .doesNotHaveDuplicates();
    }

    static class Sending {

        private final Set<String> failed = ConcurrentHashMap.newKeySet();
        private final KafkaTemplate<Object, Object> template;
        private final String suffix;

        Sending(KafkaTemplate<Object, Object> template, @Value("${suffix}") String suffix) {
            this.template = template;
            this.suffix = suffix;
        }

        @OfKind("in")
        void on(String payload) {
            for (String key : new String[] {"a", "a", "b"}) {
                this.template.send("out" + this.suffix, key, payload).join();
            }
            HasEffects.beforeCommit(() -> {
                this.template
                        .send("out" + this.suffix, "a", payload + " before commit")
                        .join();
                if (this.failed.add(payload)) {
                    throw new IllegalStateException(payload);
                }
            });
        }
    }
}
