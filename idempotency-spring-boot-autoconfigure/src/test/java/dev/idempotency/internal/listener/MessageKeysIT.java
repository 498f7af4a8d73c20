package dev.idempotency.internal.listener;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.IdempotentListener;
import dev.idempotency.InvalidMessageKeyException;
import dev.idempotency.MessageId;
import dev.idempotency.app.Outcomes;
import dev.idempotency.app.TestApplication;
import dev.idempotency.key.MessageKeyResolver;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import org.assertj.core.api.ListAssert;
import org.junit.jupiter.api.Test;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;
import org.springframework.dao.DataAccessResourceFailureException;
import org.springframework.kafka.annotation.KafkaListener;
import org.springframework.kafka.config.ContainerPostProcessor;
import org.springframework.kafka.listener.AbstractMessageListenerContainer;
import org.springframework.kafka.listener.ContainerProperties.AckMode;
import org.springframework.kafka.support.Acknowledgment;

/** Where keys come from, and what becomes of messages that have none. */
@ListenersTest.Application
class MessageKeysIT extends ListenersTest {

    @Test
    void aKeyWhoseExpressionThrowsIsNotLookedForAgainAndCounted() {
        deliver(Throwing.class, ":7", ":abc");
        assertThat(failures(Throwing.class)).singleElement().satisfies(failure -> assertThat(failure)
                .isInstanceOf(InvalidMessageKeyException.class)
                .hasMessageContaining(topic(Throwing.class) + "-0@1")
                .hasCauseInstanceOf(NumberFormatException.class));
        assertThat(outcomes(Throwing.class).missingKeys).hasSize(1);
        assertThat(effects(Throwing.class)).containsExactly("7");
    }

    @Test
    void onRequestMessagesWithoutAKeyAreProcessedWithoutDeduplicationAndHeadersCanBeChosen() {
        assertProcessedElsewhere(
                        List.of(
                                "idempotency.key.on-missing=process",
                                "idempotency.key.headers=x-request-id,message-id"),
                        List.of(),
                        ":a",
                        ":a",
                        "1:b",
                        "1:b")
                .containsExactly("1");
        assertThat(Elsewhere.CALLS).containsExactly("a", "a", "b");
    }

    @Test
    void onRequestMessagesWithoutAKeyAreSkippedAndCounted() {
        createTopics(1, "skipping");
        for (String message : List.of(":a", "1:b", ":c", "1:b")) {
            String[] parts = message.split(":");
            this.app.send(topic("skipping"), parts[0].isEmpty() ? null : parts[0], parts[1]);
        }
        List<String> properties = List.of("idempotency.key.on-missing=skip", "topic=" + topic("skipping"));
        try (TestApplication other = TestApplication.start(this.database, properties, Skipping.class)) {
            for (String group : List.of("records", "batches", "polls", "acknowledged")) {
                other.awaitCaughtUp(group + topic("skipping"), topic("skipping"));
            }
            assertThat(Skipping.CALLS).containsExactlyInAnyOrder("records b", "batches b", "polls b", "acknowledged b");
            Outcomes outcomes = other.bean(Outcomes.class);
            assertThat(outcomes.missingKeys).hasSize(8);
            assertThat(outcomes.duplicates).hasSize(4);
            assertThat(outcomes.failed).hasValue(0);
        }
    }

    @Test
    void theUsersOwnResolverReplacesTheHeadersAndWhatItThrowsIsTheMessagesFaultUnlessItIsAnOutage() {
        assertProcessedElsewhere(
                        List.of("idempotency.errors.max-attempts=1"),
                        List.of(OwnResolver.class),
                        "ignored:a",
                        ":runtime exception",
                        ":stack overflow",
                        ":outage")
                .containsExactly("own a", "own outage");
        assertThat(Elsewhere.CALLS).containsExactly("a", "outage");
    }

    /** In an application of its own, as keys are found in the same way for all listeners of one. */
    private ListAssert<String> assertProcessedElsewhere(
            List<String> properties, List<Class<?>> beans, String... messages) {
        Elsewhere.CALLS.clear();
        List<String> all = new ArrayList<>(properties);
        String name = "elsewhere" + beans.size();
        createTopics(1, name);
        all.add("topic=" + topic(name));
        List<Class<?>> classes = new ArrayList<>(beans);
        classes.add(Elsewhere.class);
        try (TestApplication other = TestApplication.start(this.database, all, classes.toArray(Class<?>[]::new))) {
            for (String message : messages) {
                String[] parts = message.split(":");
                other.send(topic(name), parts[0].isEmpty() ? null : parts[0], parts[1]);
            }
            other.awaitCaughtUp(topic(name), topic(name));
            Outcomes outcomes = other.bean(Outcomes.class);
            assertThat(outcomes.missingKeys).hasSize(2);
            return assertThat(outcomes.processed.stream().map(MessageId::value).toList());
        }
    }

    @Container(factory = "handled")
    @IdempotentListener(key = "T(Long).parseLong(#payload)")
    static class Throwing extends OfRecords {}

    @Import(Outcomes.class)
    static class Elsewhere {

        private static final List<String> CALLS = new ArrayList<>();

        @KafkaListener(topics = "${topic}", groupId = "${topic}")
        @IdempotentListener
        void on(String payload) {
            CALLS.add(payload);
        }
    }

    @Import(Outcomes.class)
    static class Skipping {

        private static final List<String> CALLS = new CopyOnWriteArrayList<>();

        @KafkaListener(topics = "${topic}", groupId = "records${topic}")
        @IdempotentListener
        void records(String payload) {
            CALLS.add("records " + payload);
        }

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
                case "runtime exception" -> throw new UnsupportedOperationException("on purpose");
                case "stack overflow" -> throw new StackOverflowError("on purpose");
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
