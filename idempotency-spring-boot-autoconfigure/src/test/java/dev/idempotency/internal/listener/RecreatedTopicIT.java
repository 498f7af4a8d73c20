package dev.idempotency.internal.listener;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.idempotency.ConsumerWaitingException.Awaited;
import dev.idempotency.DeduplicationStrategy;
import dev.idempotency.DuplicateKind;
import dev.idempotency.actuate.IdempotencyHealthIndicator;
import dev.idempotency.app.Effects;
import dev.idempotency.app.HasEffects;
import dev.idempotency.app.OfKind;
import dev.idempotency.app.Outcomes;
import dev.idempotency.app.SharedApplicationTest;
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
import java.util.stream.Stream;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.springframework.boot.kafka.autoconfigure.KafkaProperties;
import org.springframework.context.annotation.Bean;
import org.springframework.core.env.Environment;
import org.springframework.kafka.config.KafkaListenerEndpointRegistry;
import org.springframework.kafka.core.ConsumerFactory;
import org.springframework.kafka.core.DefaultKafkaConsumerFactory;
import org.springframework.kafka.support.KafkaHeaders;

/** A topic that is deleted and recreated with the same name: its records have the coordinates of old ones. */
class RecreatedTopicIT extends SharedApplicationTest {

    private static final List<String> KINDS = List.of("batches", "offsets", "polls", "records");

    private Outcomes outcomes;

    @BeforeAll
    void start() {
        createTopics(1, "batches", "offsets", "polls", "records", "identified", "kept");
        start(
                List.of(
                        // Consumers must not create topics: the test does that.
                        "spring.kafka.consumer.properties.allow.auto.create.topics=false",
                        "idempotency.on-conflict=fail",
                        "idempotency.errors.max-attempts=1"),
                Listeners.class,
                Elsewhere.class,
                Outcomes.class);
        this.outcomes = this.app.bean(Outcomes.class);
    }

    @AfterAll
    void nobodyAsksForTopicsAnyLonger() {
        this.app.close();
        await().until(() -> Thread.getAllStackTraces().keySet().stream()
                .noneMatch(thread -> thread.getName().contains("idempotency-topic-ids")));
    }

    @Test
    void everyMessageOfTheNewTopicIsProcessedAndARedeliveryIsStillADuplicate() {
        sendToAll("a", "b", "c");
        awaitAppliedByAll("a", "b", "c");
        KINDS.forEach(this::recreate);
        sendToAll("d", "e");
        awaitAppliedByAll("d", "e");

        this.outcomes.duplicates.clear();
        whileStopped(() -> KINDS.forEach(kind -> TestApplication.commitBeginning(topic(kind), topic(kind))));
        await().until(() -> this.outcomes.duplicates.size() >= 2 * KINDS.size());
        assertThat(this.outcomes.duplicates).extracting(Duplicate::kind).containsOnly(DuplicateKind.REDELIVERY);
        sendToAll("f");
        awaitAppliedByAll("f");

        // Consumers are stopped while the topic is replaced; the new one begins before their positions and ends after.
        whileStopped(() -> {
            KINDS.forEach(this::recreate);
            sendToAll("g", "h", "i", "j");
            KINDS.forEach(this::sendCopyFromATopicThatIsGone);
        });
        awaitAppliedByAll("g", "h", "i", "j", "copy");
    }

    /** Both messages have the same coordinates, but different payloads. */
    @Test
    void anIdThatIsUsedAgainInTheNewTopicIsAConflict() {
        this.app.send(topic("identified"), "1", "old");
        awaitApplied("identified old");
        recreate("identified");
        this.app.send(topic("identified"), "1", "new");
        await().untilAsserted(() ->
                assertThat(TopicContents.values(topic("identified") + "-dlt")).containsExactly("new"));
        assertThat(effectsOf("identified")).containsExactly("identified old");
    }

    @Test
    void aDeadLetterThatIsSentBackAndAReplayAreOfTheTopicThatTheyCameFrom() {
        this.app.send(topic("kept"), null, "letter");
        this.app.send(topic("kept"), null, "replay");
        awaitCaughtUp("kept");
        List<ConsumerRecord<String, String>> letters = TopicContents.of(topic("kept") + "-dlt");
        assertThat(letters).extracting(ConsumerRecord::value).containsExactly("letter", "replay");
        recreate("kept");
        this.app.bean(Listeners.class).mend();
        this.app.send(topic("kept"), null, "first");
        awaitApplied("kept first");
        this.app.send(topic("kept"), null, "second");
        awaitApplied("kept second");

        ConsumerRecord<String, String> letter = letters.get(0);
        this.app.send(new ProducerRecord<>(topic("kept"), 0, letter.key(), letter.value(), letter.headers()));
        awaitApplied("kept letter");
        assertThat(this.app.bean(Inbox.class).replayFailed("kept").sent()).isOne();
        awaitApplied("kept replay");
    }

    @Test
    void whileTheBrokerCannotBeAskedForTheTopicNothingIsProcessedAndNothingGivenUp() {
        OutageRegistry outages = this.app.bean(OutageRegistry.class);
        whileStopped(() -> {
            this.app.bean(Elsewhere.class).reachable = false;
            sendToAll("unknown");
        });
        await().until(() -> outages.current().size() == KINDS.size());
        assertThat(outages.current()).allSatisfy(outage -> {
            String topic = topic(outage.consumer());
            long offset = TestApplication.endOffsets(topic).get(0) - 1;
            assertThat(outage.awaited()).isEqualTo(Awaited.BROKER);
            assertThat(outage.cause())
                    .contains(topic + "-0@" + offset, Elsewhere.NOWHERE)
                    .containsAnyOf("#coordinates", "its offset");
        });
        assertThat(this.app.bean(IdempotencyHealthIndicator.class).health().getDetails())
                .containsKey("waitingForBroker")
                .doesNotContainKey("waitingForDatabase");
        assertThat(this.app.bean(Effects.class).all()).noneMatch(effect -> effect.endsWith("unknown"));
        this.app.bean(Elsewhere.class).reachable = true;
        awaitAppliedByAll("unknown");
        await().until(() -> outages.current().isEmpty());
        assertThat(this.outcomes.missingKeys).isEmpty();
        assertThat(KINDS).allSatisfy(kind -> assertThat(TopicContents.values(topic(kind) + "-dlt"))
                .isEmpty());
    }

    private void whileStopped(Runnable work) {
        this.app.bean(KafkaListenerEndpointRegistry.class).stop();
        work.run();
        this.app.bean(KafkaListenerEndpointRegistry.class).start();
    }

    private void sendToAll(String... values) {
        KINDS.forEach(kind -> Stream.of(values).forEach(value -> this.app.send(topic(kind), null, value)));
    }

    private void sendCopyFromATopicThatIsGone(String kind) {
        ProducerRecord<String, String> copy = new ProducerRecord<>(topic(kind), "copy");
        copy.headers()
                .add(KafkaHeaders.ORIGINAL_TOPIC, TestKafka.uniqueName("gone").getBytes(StandardCharsets.UTF_8))
                .add(KafkaHeaders.ORIGINAL_PARTITION, ByteBuffer.allocate(4).array())
                .add(KafkaHeaders.ORIGINAL_OFFSET, ByteBuffer.allocate(8).array());
        this.app.send(copy);
    }

    private void awaitAppliedByAll(String... values) {
        awaitApplied(KINDS.stream()
                .flatMap(kind -> Stream.of(values).map(value -> kind + " " + value))
                .toArray(String[]::new));
    }

    private void awaitApplied(String... effects) {
        await().untilAsserted(() ->
                assertThat(this.app.bean(Effects.class).all()).contains(effects).doesNotHaveDuplicates());
    }

    /** Consumers must catch up first: Kafka treats new records before a consumer's old position as read. */
    private void recreate(String kind) {
        awaitCaughtUp(kind);
        recreateTopic(kind);
    }

    static class Listeners extends HasEffects {

        private volatile boolean mended;

        void mend() {
            this.mended = true;
        }

        @OfKind(value = "records", key = "#coordinates")
        void records(String payload) {
            this.effects.happen("records " + payload);
        }

        @OfKind(value = "batches", key = "'x/' + #coordinates", batch = "true")
        void batches(List<String> payloads) {
            payloads.forEach(payload -> this.effects.happen("batches " + payload));
        }

        @OfKind(value = "offsets", strategy = DeduplicationStrategy.OFFSET)
        void offsets(String payload) {
            this.effects.happen("offsets " + payload);
        }

        @OfKind(value = "polls", key = "#coordinates", transactionPerPoll = "true")
        void polls(String payload) {
            this.effects.happen("polls " + payload);
        }

        @OfKind("identified")
        void identified(String payload) {
            this.effects.happen("identified " + payload);
        }

        @OfKind(value = "kept", key = "#coordinates", inbox = "true")
        void kept(String payload) {
            this.effects.happen("kept " + payload);
            if (!this.mended) {
                throw new IllegalStateException("not yet");
            }
        }
    }

    /** Reports, if told to, that consumers connect to an address where no broker listens. */
    static class Elsewhere {

        static final String NOWHERE = "localhost:1";

        private volatile boolean reachable = true;

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
}
