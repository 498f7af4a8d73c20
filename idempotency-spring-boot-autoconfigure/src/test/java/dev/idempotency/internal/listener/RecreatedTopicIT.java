package dev.idempotency.internal.listener;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.idempotency.ConsumerWaitingException.Awaited;
import dev.idempotency.DeduplicationStrategy;
import dev.idempotency.DuplicateKind;
import dev.idempotency.IdempotentListener;
import dev.idempotency.actuate.IdempotencyHealthIndicator;
import dev.idempotency.app.ApplicationTest;
import dev.idempotency.app.Effects;
import dev.idempotency.app.Failures;
import dev.idempotency.app.HasEffects;
import dev.idempotency.app.Outcomes;
import dev.idempotency.app.TestApplication;
import dev.idempotency.app.TopicContents;
import dev.idempotency.event.Duplicate;
import dev.idempotency.inbox.Inbox;
import dev.idempotency.internal.failure.OutageRegistry;
import dev.idempotency.testing.TestKafka;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.Uuid;
import org.junit.jupiter.api.Test;
import org.springframework.boot.kafka.autoconfigure.KafkaProperties;
import org.springframework.context.annotation.Bean;
import org.springframework.core.env.Environment;
import org.springframework.kafka.annotation.KafkaListener;
import org.springframework.kafka.core.ConsumerFactory;
import org.springframework.kafka.core.DefaultKafkaConsumerFactory;
import org.springframework.kafka.support.KafkaHeaders;

/** A topic that is deleted and created again under its name: its records stand where those of the old one stood. */
class RecreatedTopicIT extends ApplicationTest {

    /** Consumers create none, which the test does. */
    private static final String NO_TOPICS = "spring.kafka.consumer.properties.allow.auto.create.topics=false";

    private static final List<String> KINDS = List.of("batches", "offsets", "polls", "records");

    /** Of a listener whose group has no kind in its name. */
    private static final List<String> ONLY_ONE = List.of("");

    @Test
    void everyMessageOfTheNewTopicIsProcessedAndARedeliveryIsStillADuplicate() throws Exception {
        try (TestApplication app = start(Listeners.class)) {
            send(app, "a", "b", "c");
            awaitEffects(app, "a", "b", "c");
            recreateTopic(KINDS);
            send(app, "d", "e");
            awaitEffects(app, "a", "b", "c", "d", "e");

            Outcomes outcomes = app.bean(Outcomes.class);
            outcomes.duplicates.clear();
            KINDS.forEach(kind -> app.rewind(this.group + kind, this.topic));
            await().until(() -> outcomes.duplicates.size() >= 2 * KINDS.size());
            assertThat(outcomes.duplicates).extracting(Duplicate::kind).containsOnly(DuplicateKind.REDELIVERY);
            send(app, "f");
            awaitEffects(app, "a", "b", "c", "d", "e", "f");
        }
        recreateTopic(KINDS);
        try (TestApplication app = start(Listeners.class)) {
            send(app, "g", "h");
            app.send(copyFromATopicThatIsGone("i"));
            awaitEffects(app, "a", "b", "c", "d", "e", "f", "g", "h", "i");
        }
    }

    /** Their coordinates are the same, their payloads are not. */
    @Test
    void anIdThatIsUsedAgainInTheNewTopicIsAConflict() throws Exception {
        try (TestApplication app = start(Identified.class)) {
            app.send(this.topic, "1", "old");
            awaitAll(app, "old");
            recreateTopic(ONLY_ONE);
            app.send(this.topic, "1", "new");
            await().untilAsserted(() ->
                    assertThat(TopicContents.values(this.topic + "-dlt")).containsExactly("new"));
            assertThat(app.bean(Effects.class).all()).containsExactly("old");
        }
    }

    @Test
    void aDeadLetterThatIsSentBackAndAReplayAreOfTheTopicThatTheyCameFrom() throws Exception {
        try (TestApplication app = start(
                List.of(NO_TOPICS, "idempotency.errors.max-attempts=1", "idempotency.inbox.enabled=true"),
                Kept.class)) {
            app.send(this.topic, null, "letter");
            app.send(this.topic, null, "replay");
            app.awaitCaughtUp(this.group, this.topic);
            List<ConsumerRecord<String, String>> letters = TopicContents.of(this.topic + "-dlt");
            assertThat(letters).extracting(ConsumerRecord::value).containsExactly("letter", "replay");
            recreateTopic(ONLY_ONE);
            app.bean(Kept.class).mend();
            app.send(this.topic, null, "first");
            awaitAll(app, "first");
            app.send(this.topic, null, "second");
            awaitAll(app, "first", "second");

            ConsumerRecord<String, String> letter = letters.get(0);
            app.send(new ProducerRecord<>(this.topic, 0, letter.key(), letter.value(), letter.headers()));
            awaitAll(app, "first", "letter", "second");
            assertThat(app.bean(Inbox.class).replayFailed("kept").sent()).isOne();
            awaitAll(app, "first", "letter", "replay", "second");
        }
    }

    @Test
    void whileTheBrokerCannotBeAskedForTheTopicNothingIsProcessedAndNothingGivenUp() {
        try (TestApplication app = start(Listeners.class, Elsewhere.class, Failures.class, Outcomes.class)) {
            send(app, "a", "b");
            await().until(() -> app.bean(OutageRegistry.class).current().size() == KINDS.size());
            assertThat(app.bean(OutageRegistry.class).current()).allSatisfy(outage -> {
                assertThat(outage.awaited()).isEqualTo(Awaited.BROKER);
                assertThat(outage.cause())
                        .contains(this.topic + "-0@0", Elsewhere.NOWHERE)
                        .containsAnyOf("#coordinates", "its offset");
            });
            assertThat(app.bean(IdempotencyHealthIndicator.class).health().getDetails())
                    .containsKey("waitingForBroker")
                    .doesNotContainKey("waitingForDatabase");
            assertThat(app.bean(Effects.class).all()).isEmpty();
            app.bean(Elsewhere.class).reachable = true;
            awaitEffects(app, "a", "b");
            await().until(() -> app.bean(OutageRegistry.class).current().isEmpty());
            assertThat(app.bean(Failures.class).causes()).isEmpty();
            assertThat(app.bean(Failures.class).recovered()).isEmpty();
            assertThat(app.bean(Outcomes.class).missingKeys).isEmpty();
        }
        await().until(() -> Thread.getAllStackTraces().keySet().stream()
                .noneMatch(thread -> thread.getName().contains("idempotency-topic-ids")));
    }

    /** Nobody looks while the topic is another one, and what is in it then begins before the position and ends behind it. */
    @Test
    void aPositionOfTheOldTopicDropsNothingOfANewOneThatReachesBeyondIt() throws Exception {
        try (TestApplication app = start(Listeners.class)) {
            send(app, "a", "b", "c");
            awaitEffects(app, "a", "b", "c");
        }
        recreateTopic(KINDS);
        try (TestApplication app = start(Outcomes.class)) {
            send(app, "d", "e", "f", "g", "h");
        }
        try (TestApplication app = start(Listeners.class)) {
            awaitEffects(app, "a", "b", "c", "d", "e", "f", "g", "h");
        }
    }

    private TestApplication start(Class<?> listeners) {
        return start(List.of(NO_TOPICS), listeners, Outcomes.class);
    }

    private void send(TestApplication app, String... values) {
        for (String value : values) {
            app.send(this.topic, null, value);
        }
    }

    private static void awaitEffects(TestApplication app, String... values) {
        awaitAll(
                app,
                KINDS.stream()
                        .flatMap(kind -> Stream.of(values).map(value -> kind + " " + value))
                        .toArray(String[]::new));
    }

    private static void awaitAll(TestApplication app, String... effects) {
        await().untilAsserted(() -> assertThat(app.bean(Effects.class).all()).containsExactly(effects));
    }

    private ProducerRecord<String, String> copyFromATopicThatIsGone(String value) {
        ProducerRecord<String, String> copy = new ProducerRecord<>(this.topic, value);
        copy.headers()
                .add(KafkaHeaders.ORIGINAL_TOPIC, TestKafka.uniqueName("gone").getBytes(StandardCharsets.UTF_8))
                .add(KafkaHeaders.ORIGINAL_PARTITION, ByteBuffer.allocate(4).array())
                .add(KafkaHeaders.ORIGINAL_OFFSET, ByteBuffer.allocate(8).array());
        return copy;
    }

    /**
     * What is sent next must not reach up to where the consumers stand, or Kafka takes it for what they have read.
     *
     * @param kinds those whose groups have read the topic to its end
     */
    private void recreateTopic(List<String> kinds) throws Exception {
        // An offset that is committed later would be one of the new topic.
        kinds.forEach(kind ->
                await().until(() -> TestApplication.endOffsets(this.topic).equals(committedOffsets(kind))));
        Uuid old = topicId();
        TestKafka.sharedAdmin().deleteTopics(List.of(this.topic)).all().get(30, TimeUnit.SECONDS);
        await().ignoreExceptions().until(() -> {
            TestKafka.createTopics(1, this.topic);
            return true;
        });
        // Both are answered before the broker has heard of them: until then it takes what is sent for the old topic,
        // and forgets with that what is committed.
        await().ignoreExceptions()
                .until(() -> !topicId().equals(old)
                        && kinds.stream()
                                .allMatch(kind -> committedOffsets(kind).isEmpty()));
    }

    private Map<Integer, Long> committedOffsets(String kind) {
        return TestApplication.committedOffsets(this.group + kind, this.topic);
    }

    private Uuid topicId() throws Exception {
        return TestKafka.sharedAdmin()
                .describeTopics(List.of(this.topic))
                .allTopicNames()
                .get(30, TimeUnit.SECONDS)
                .get(this.topic)
                .topicId();
    }

    static class Listeners extends HasEffects {

        @KafkaListener(topics = "${topic}", groupId = "${group}records")
        @IdempotentListener(consumer = "records", key = "#coordinates")
        void records(String payload) {
            this.effects.happen("records " + payload);
        }

        @KafkaListener(topics = "${topic}", groupId = "${group}batches", batch = "true")
        @IdempotentListener(consumer = "batches", key = "'x/' + #coordinates")
        void batches(List<String> payloads) {
            payloads.forEach(payload -> this.effects.happen("batches " + payload));
        }

        @KafkaListener(topics = "${topic}", groupId = "${group}offsets")
        @IdempotentListener(consumer = "offsets", strategy = DeduplicationStrategy.OFFSET)
        void offsets(String payload) {
            this.effects.happen("offsets " + payload);
        }

        @KafkaListener(topics = "${topic}", groupId = "${group}polls")
        @IdempotentListener(consumer = "polls", key = "#coordinates", transactionPerPoll = "true")
        void polls(String payload) {
            this.effects.happen("polls " + payload);
        }
    }

    static class Identified extends HasEffects {

        @KafkaListener(topics = "${topic}", groupId = "${group}")
        @IdempotentListener(consumer = "identified", onConflict = "fail")
        void on(String payload) {
            this.effects.happen(payload);
        }
    }

    /** Says of consumers that they connect to where nobody is. */
    static class Elsewhere {

        static final String NOWHERE = "localhost:1";

        private volatile boolean reachable;

        @Bean
        ConsumerFactory<Object, Object> consumerFactory(KafkaProperties properties, Environment environment) {
            Map<String, Object> configuration = properties.buildConsumerProperties();
            configuration.put("bootstrap.servers", environment.getRequiredProperty("spring.kafka.bootstrap-servers"));
            return new DefaultKafkaConsumerFactory<>(configuration) {

                @Override
                public Map<String, Object> getConfigurationProperties() {
                    Map<String, Object> told = new HashMap<>(super.getConfigurationProperties());
                    if (!Elsewhere.this.reachable) {
                        told.put("bootstrap.servers", NOWHERE);
                    }
                    return told;
                }
            };
        }
    }

    static class Kept extends HasEffects {

        private volatile boolean mended;

        void mend() {
            this.mended = true;
        }

        @KafkaListener(topics = "${topic}", groupId = "${group}")
        @IdempotentListener(consumer = "kept", key = "#coordinates")
        void on(String payload) {
            this.effects.happen(payload);
            if (!this.mended) {
                throw new IllegalStateException("not yet");
            }
        }
    }
}
