package dev.idempotency.internal.listener;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.idempotency.ConsumerWaitingException.Awaited;
import dev.idempotency.IdempotentListener;
import dev.idempotency.MessageId;
import dev.idempotency.actuate.IdempotencyHealthIndicator;
import dev.idempotency.app.Outcomes;
import dev.idempotency.app.TestApplication;
import dev.idempotency.internal.failure.OutageRegistry;
import dev.idempotency.key.MessageKeyResolver;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.springframework.boot.health.contributor.Health;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;
import org.springframework.dao.DataAccessResourceFailureException;
import org.springframework.kafka.annotation.KafkaListener;
import org.springframework.kafka.config.ContainerPostProcessor;
import org.springframework.kafka.listener.AbstractMessageListenerContainer;
import org.springframework.kafka.listener.ContainerProperties.AckMode;
import org.springframework.kafka.support.Acknowledgment;

/** Where keys come from, and what happens to messages without one. */
@ListenersTest.Application
class MessageKeysIT extends ListenersTest {

    private static final List<String> CALLS = new CopyOnWriteArrayList<>();

    /** The delivery contract covers what follows. */
    @Test
    void aConsumerWhoseMessagesHaveHadNoKeyYetWaitsAndSaysWhereItLooks() {
        send(Waiting.class, ":first");
        startContainers(Waiting.class);
        OutageRegistry outages = this.app.bean(OutageRegistry.class);
        await().untilAsserted(
                        () -> assertThat(outages.current()).singleElement().satisfies(outage -> {
                            assertThat(outage.awaited()).isEqualTo(Awaited.KEYS);
                            assertThat(outage.cause())
                                    .contains(
                                            topic(Waiting.class) + "-0@0",
                                            "idempotency-key",
                                            "@IdempotentListener(key",
                                            "idempotency.key.headers",
                                            "idempotency.key.on-missing=process");
                        }));
        Health health = this.app.bean(IdempotencyHealthIndicator.class).health();
        assertThat(health.getStatus()).isEqualTo(IdempotencyHealthIndicator.DEGRADED);
        assertThat(health.getDetails()).containsKey("waitingForKeys").doesNotContainKey("waitingForDatabase");
        assertThat(outcomes(Waiting.class).missingKeys).isEmpty();
    }

    @Test
    void onRequestMessagesWithoutAKeyAreProcessedWithoutDeduplicationAndHeadersCanBeChosen() {
        Outcomes outcomes = deliverElsewhere(
                "processing",
                List.of("idempotency.key.on-missing=process", "idempotency.key.headers=x-request-id,message-id"),
                List.of(Elsewhere.class),
                ":a :a 1:b 1:b");
        assertThat(outcomes.missingKeys).hasSize(2);
        assertThat(outcomes.processed).extracting(MessageId::value).containsExactly("1");
        assertThat(CALLS).containsExactly("records a", "records a", "records b");
    }

    @Test
    void onRequestMessagesWithoutAKeyAreSkippedAndCounted() {
        Outcomes outcomes = deliverElsewhere(
                "skipping",
                List.of("idempotency.key.on-missing=skip"),
                List.of(Elsewhere.class, OtherKinds.class),
                ":a 1:b :c 1:b",
                "batches",
                "polls",
                "acknowledged");
        assertThat(CALLS).containsExactlyInAnyOrder("records b", "batches b", "polls b", "acknowledged b");
        assertThat(outcomes.missingKeys).hasSize(8);
        assertThat(outcomes.duplicates).hasSize(4);
        assertThat(outcomes.failed).hasValue(0);
    }

    @Test
    void theUsersOwnResolverReplacesTheHeadersAndWhatItThrowsIsTheMessagesFaultUnlessItIsAnOutage() {
        Outcomes outcomes = deliverElsewhere(
                "resolving",
                List.of("idempotency.errors.max-attempts=1"),
                List.of(Elsewhere.class, OwnResolver.class),
                "ignored:a :runtime-exception :stack-overflow :outage");
        assertThat(outcomes.missingKeys).hasSize(2);
        assertThat(outcomes.processed).extracting(MessageId::value).containsExactly("own a", "own outage");
        assertThat(CALLS).containsExactly("records a", "records outage");
    }

    /** Delivers to a separate application, as settings of keys apply to all listeners of one. */
    private Outcomes deliverElsewhere(
            String name, List<String> properties, List<Class<?>> beans, String messages, String... otherKinds) {
        CALLS.clear();
        createTopics(1, name);
        for (String message : messages.split(" ")) {
            String[] parts = message.split(":");
            this.app.send(topic(name), parts[0].isEmpty() ? null : parts[0], parts[1]);
        }
        List<String> all = new ArrayList<>(properties);
        all.add("topic=" + topic(name));
        try (TestApplication other = TestApplication.start(this.database, all, beans.toArray(Class<?>[]::new))) {
            other.awaitCaughtUp("records" + topic(name), topic(name));
            for (String kind : otherKinds) {
                other.awaitCaughtUp(kind + topic(name), topic(name));
            }
            return other.bean(Outcomes.class);
        }
    }

    @IdempotentListener
    static class Waiting extends OfRecords {}

    @Import(Outcomes.class)
    static class Elsewhere {

        @KafkaListener(topics = "${topic}", groupId = "records${topic}")
        @IdempotentListener
        void records(String payload) {
            CALLS.add("records " + payload);
        }
    }

    static class OtherKinds {

        @KafkaListener(topics = "${topic}", groupId = "batches${topic}", batch = "true")
        @IdempotentListener
        void batches(List<String> payloads) {
            payloads.forEach(payload -> CALLS.add("batches " + payload));
        }

        @KafkaListener(topics = "${topic}", groupId = "polls${topic}")
        @IdempotentListener(transactionPerPoll = "true")
        void polls(String payload) {
            CALLS.add("polls " + payload);
        }

        @KafkaListener(topics = "${topic}", groupId = "acknowledged${topic}", containerPostProcessor = "manual")
        @IdempotentListener
        void acknowledged(String payload, Acknowledgment acknowledgment) {
            CALLS.add("acknowledged " + payload);
            acknowledgment.acknowledge();
        }

        @Bean
        static ContainerPostProcessor<Object, Object, AbstractMessageListenerContainer<Object, Object>> manual() {
            return container -> container.getContainerProperties().setAckMode(AckMode.MANUAL_IMMEDIATE);
        }
    }

    static class OwnResolver {

        private final AtomicInteger outages = new AtomicInteger();

        @Bean
        MessageKeyResolver resolver() {
            return record -> switch (String.valueOf(record.value())) {
                case "runtime-exception" -> throw new UnsupportedOperationException("on purpose");
                case "stack-overflow" -> throw new StackOverflowError("on purpose");
                case "outage" -> {
                    if (this.outages.incrementAndGet() < 3) {
                        throw new DataAccessResourceFailureException("on purpose");
                    }
                    yield "own outage";
                }
                default -> "own " + record.value();
            };
        }
    }
}
