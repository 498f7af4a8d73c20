package dev.idempotency.internal.step;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import dev.idempotency.DeduplicationStrategy;
import dev.idempotency.IdempotencyContext;
import dev.idempotency.IdempotentConsumer;
import dev.idempotency.IdempotentListener;
import dev.idempotency.IdempotentOperations;
import dev.idempotency.MessageId;
import dev.idempotency.UnknownOutcomeException;
import dev.idempotency.app.Effects;
import dev.idempotency.app.SharedApplicationTest;
import dev.idempotency.app.TestApplication;
import dev.idempotency.app.TopicContents;
import dev.idempotency.inbox.Inbox;
import dev.idempotency.inbox.InboxQuery;
import dev.idempotency.inbox.InboxStatus;
import dev.idempotency.metrics.IdempotencyMeters;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;
import org.springframework.core.ParameterizedTypeReference;
import org.springframework.kafka.annotation.KafkaListener;
import org.springframework.kafka.config.ContainerPostProcessor;
import org.springframework.kafka.config.KafkaListenerEndpointRegistry;
import org.springframework.kafka.listener.AbstractMessageListenerContainer;
import org.springframework.kafka.listener.ContainerProperties.AckMode;
import org.springframework.kafka.support.Acknowledgment;

/** Steps of listeners of every kind; the contract has more of what happens when they fail. */
@ExtendWith(OutputCaptureExtension.class)
class StepsIT extends SharedApplicationTest {

    private Calls calls;

    @BeforeAll
    void start() {
        createTopics(1, "record", "batch", "poll", "manual", "mail", "misuse", "offset", "version", "unique", "commit");
        start(
                Listeners.class,
                "spring.kafka.listener.ack-mode=batch",
                "spring.datasource.hikari.maximum-pool-size=12",
                "idempotency.cleanup.enabled=false",
                "idempotency.errors.initial-interval=1ms",
                "idempotency.errors.max-attempts=2");
        this.calls = this.app.bean(Calls.class);
    }

    /** What is called, outside the database. */
    static class Calls {

        final List<String> made = new CopyOnWriteArrayList<>();
        final Map<String, Integer> attempts = new ConcurrentHashMap<>();

        Receipt charge(String key, String payload) {
            this.made.add(payload);
            return new Receipt(key, payload, this.made.size());
        }

        void failOnce(String payload) {
            if (payload.contains("fails once") && this.attempts.merge(payload, 1, Integer::sum) == 1) {
                throw new IllegalStateException("told to fail");
            }
        }

        List<String> of(String kind) {
            return this.made.stream().filter(call -> call.startsWith(kind)).toList();
        }
    }

    record Receipt(String key, String payload, int number) {}

    private static IdempotencyContext context() {
        return IdempotencyContext.current();
    }

    @Import({Effects.class, Calls.class})
    static class Listeners {

        @Autowired
        private Effects effects;

        @Autowired
        private Calls calls;

        @Bean
        static ContainerPostProcessor<Object, Object, AbstractMessageListenerContainer<Object, Object>>
                manualAcknowledgment() {
            return container -> container.getContainerProperties().setAckMode(AckMode.MANUAL);
        }

        @Bean
        MeterRegistry meters() {
            return new SimpleMeterRegistry();
        }

        @Bean
        IdempotentConsumer requests() {
            return IdempotentConsumer.named("requests");
        }

        private void charge(int index, String payload) {
            Receipt receipt = context().step(index, "charge", Receipt.class, key -> this.calls.charge(key, payload));
            assertThat(receipt.key()).isEqualTo(context().deriveKey(index, "charge"));
            assertThat(receipt.payload()).isEqualTo(payload);
            this.effects.happen(payload + " " + receipt.number());
            this.calls.failOnce(payload);
        }

        @KafkaListener(id = "record", topics = "record${suffix}", groupId = "record${suffix}", autoStartup = "false")
        @IdempotentListener(consumer = "record")
        void onRecord(String payload) {
            charge(0, payload);
        }

        @KafkaListener(
                id = "batch",
                topics = "batch${suffix}",
                groupId = "batch${suffix}",
                batch = "true",
                autoStartup = "false")
        @IdempotentListener(consumer = "batch")
        void onBatch(List<String> payloads) {
            for (int i = 0; i < payloads.size(); i++) {
                charge(i, payloads.get(i));
            }
        }

        @KafkaListener(id = "poll", topics = "poll${suffix}", groupId = "poll${suffix}", autoStartup = "false")
        @IdempotentListener(consumer = "poll", transactionPerPoll = "true")
        void onPoll(String payload) {
            charge(0, payload);
        }

        @KafkaListener(
                id = "manual",
                topics = "manual${suffix}",
                groupId = "manual${suffix}",
                containerPostProcessor = "manualAcknowledgment",
                autoStartup = "false")
        @IdempotentListener(consumer = "manual")
        void onManual(String payload, Acknowledgment acknowledgment) {
            charge(0, payload);
            acknowledgment.acknowledge();
        }

        @KafkaListener(topics = "mail${suffix}", groupId = "mail${suffix}")
        @IdempotentListener(consumer = "mail", inbox = "true")
        void onMail(String payload) {
            context().stepAtMostOnce("mail", () -> {
                this.calls.made.add(payload);
                this.calls.failOnce(payload);
            });
            this.effects.happen(payload);
        }

        @KafkaListener(topics = "misuse${suffix}", groupId = "misuse${suffix}")
        @IdempotentListener(consumer = "misuse")
        void onMisuse(String payload) {
            context().step("a", List.class, key -> List.of());
        }

        private void tryStep(String payload) {
            try {
                context().stepAtMostOnce(0, "mail", () -> this.calls.made.add(payload));
            } catch (IllegalStateException ex) {
                this.effects.happen(payload + " " + ex.getMessage());
            }
        }

        @KafkaListener(topics = "offset${suffix}", groupId = "offset${suffix}")
        @IdempotentListener(consumer = "offset", strategy = DeduplicationStrategy.OFFSET)
        void onOffset(String payload) {
            tryStep(payload);
        }

        @KafkaListener(topics = "version${suffix}", groupId = "version${suffix}")
        @IdempotentListener(
                consumer = "version",
                strategy = DeduplicationStrategy.VERSION,
                key = "#payload",
                version = "#payload.length()")
        void onVersion(String payload) {
            tryStep(payload);
        }

        @KafkaListener(topics = "commit${suffix}", groupId = "commit${suffix}")
        @IdempotentListener(consumer = "commit", claimAtCommit = "true")
        void onCommit(String payload) {
            tryStep(payload);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"record", "batch", "poll", "manual"})
    void aRecordedStepIsNotRepeatedByLaterAttempts(String kind) {
        send(kind, kind + " 1", kind + " 2 fails once", kind + " 3");
        this.app
                .bean(KafkaListenerEndpointRegistry.class)
                .getListenerContainer(kind)
                .start();
        awaitCaughtUp(kind);
        assertThat(this.calls.of(kind)).containsExactly(kind + " 1", kind + " 2 fails once", kind + " 3");
        assertThat(effectsOf(kind)).hasSize(3);
        assertThat(steps(kind, "executed")).isEqualTo(3);
        assertThat(steps(kind, "replayed")).isPositive();
    }

    private double steps(String consumer, String outcome) {
        return this.app
                .bean(MeterRegistry.class)
                .get(IdempotencyMeters.STEPS)
                .tags(IdempotencyMeters.CONSUMER, consumer, IdempotencyMeters.OUTCOME, outcome)
                .counter()
                .count();
    }

    @Test
    void anUnknownOutcomeIsDeadLetteredAtOnceAndRedrivenWhenItIsSettled() {
        String done = "mail done fails once";
        String notDone = "mail not done fails once";
        send("mail", done, notDone);
        awaitCaughtUp("mail");
        assertThat(this.calls.of("mail")).containsExactly(done, notDone);
        assertThat(steps("mail", "unknown")).as("not retried").isEqualTo(2);
        Inbox inbox = this.app.bean(Inbox.class);
        assertThat(inbox.find(InboxQuery.ALL.withStatus(InboxStatus.UNKNOWN)).entries())
                .hasSize(2)
                .allSatisfy(entry -> assertThat(entry.lastError())
                        .contains(UnknownOutcomeException.class.getName(), "told to fail"));
        assertThat(TopicContents.of(topic("mail") + "-dlt")).hasSize(2);
        assertThat(inbox.replayFailed("mail").sent()).as("before it is settled").isZero();

        inbox.replay(new MessageId("mail", done));
        awaitCaughtUp("mail");
        assertThat(steps("mail", "unknown")).as("replayed in vain").isEqualTo(3);
        assertThat(this.calls.of("mail")).hasSize(2);

        StepTable table = this.app.bean(StepTable.class);
        assertThat(table.settle(new MessageId("mail", done), "mail", true)).isTrue();
        assertThat(table.settle(new MessageId("mail", notDone), "mail", false)).isTrue();
        assertThat(inbox.replayFailed("mail").sent()).isEqualTo(2);
        awaitCaughtUp("mail");
        assertThat(effectsOf("mail")).containsExactly(done, notDone);
        assertThat(this.calls.of("mail")).containsExactly(done, notDone, notDone);
    }

    @ParameterizedTest
    @ValueSource(strings = {"offset", "version", "commit"})
    void aStepIsRefusedWhereNoIdIsClaimedBeforeIt(String kind) {
        send(kind, kind + " 1");
        awaitCaughtUp(kind);
        assertThat(this.calls.of(kind)).isEmpty();
        assertThat(effectsOf(kind)).singleElement().asString().contains("Step 'mail' was not taken for consumer");
        assertThat(effectsOf(kind).get(0))
                .contains(kind.equals("commit") ? "claimAtCommit = \"false\"" : "DeduplicationStrategy.MESSAGE_ID");
    }

    @Test
    void stepsHaveNamesOfTheirOwnAndResultsThatCanBeReadAgain(CapturedOutput output) {
        IdempotentOperations operations = this.app.bean(IdempotentOperations.class);
        operations.execute(MessageId.of("requests", "1"), () -> {
            context().stepAtMostOnce("a", () -> {});
            assertThatIllegalStateException()
                    .isThrownBy(() -> context().step("a", String.class, key -> key))
                    .withMessageContaining("a name of its own");
            assertThat(context()
                            .step(
                                    "b",
                                    new ParameterizedTypeReference<List<Receipt>>() {},
                                    key -> List.of(new Receipt(key, "b", 1))))
                    .hasSize(1);
            assertThat(context().step("c", Receipt.class, key -> null)).isNull();
        });
        send("misuse", "misuse");
        awaitCaughtUp("misuse");
        assertThat(output).contains("A result of type java.util.List could not be read again");
        assertThat(steps("misuse", "executed")).isZero();
    }

    @Test
    void aPoolWithoutASecondConnectionIsRefusedAtTheFirstStep(CapturedOutput output) {
        MessageId id = MessageId.of("requests", "2");
        for (int size = 1; size <= 2; size++) {
            try (TestApplication other = TestApplication.start(
                    this.database,
                    List.of(
                            "suffix=" + topic(""),
                            "idempotency.schema.mode=validate",
                            "idempotency.checks.broker-timeout=0s",
                            "spring.kafka.listener.auto-startup=false",
                            "spring.datasource.hikari.maximum-pool-size=" + size),
                    Listeners.class)) {
                IdempotentOperations operations = other.bean(IdempotentOperations.class);
                Runnable work = () -> context().stepAtMostOnce("a", () -> {});
                if (size == 1) {
                    assertThatIllegalStateException()
                            .isThrownBy(() -> operations.execute(id, work))
                            .withMessageContaining("maximum-pool-size to 2");
                } else {
                    assertThat(operations.execute(id, work).duplicate()).isFalse();
                    Awaitility.await().until(() -> output.toString().contains("share a pool of 2 connections"));
                }
            }
        }
    }
}
