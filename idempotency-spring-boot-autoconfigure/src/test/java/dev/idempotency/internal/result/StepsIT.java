package dev.idempotency.internal.result;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import dev.idempotency.IdempotencyContext;
import dev.idempotency.IdempotentConsumer;
import dev.idempotency.IdempotentOperations;
import dev.idempotency.MessageId;
import dev.idempotency.UnknownOutcomeException;
import dev.idempotency.app.Effects;
import dev.idempotency.app.OfKind;
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

/** Steps: what they record, report and reject. The delivery contract covers steps in every kind of listener. */
@ExtendWith(OutputCaptureExtension.class)
class StepsIT extends SharedApplicationTest {

    private Calls calls;

    @BeforeAll
    void start() {
        createTopics(1, "mail", "misuse");
        start(
                Listeners.class,
                "spring.datasource.hikari.maximum-pool-size=12",
                "idempotency.cleanup.enabled=false",
                "idempotency.errors.initial-interval=1ms",
                "idempotency.errors.max-attempts=2");
        this.calls = this.app.bean(Calls.class);
    }

    /** Records calls outside the database. */
    static class Calls {

        final List<String> made = new CopyOnWriteArrayList<>();
        final Map<String, Integer> attempts = new ConcurrentHashMap<>();

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

    static class Consumers {

        @Bean
        IdempotentConsumer requests() {
            return IdempotentConsumer.named("requests");
        }
    }

    @Import({Effects.class, Calls.class, Consumers.class})
    static class Listeners {

        @Autowired
        private Effects effects;

        @Autowired
        private Calls calls;

        @Bean
        MeterRegistry meters() {
            return new SimpleMeterRegistry();
        }

        @OfKind(value = "mail", inbox = "true")
        void onMail(String payload) {
            context().stepAtMostOnce("mail", () -> {
                this.calls.made.add(payload);
                this.calls.failOnce(payload);
            });
            this.effects.happen(payload);
        }

        @OfKind("misuse")
        void onMisuse(String payload) {
            context().step("a", List.class, key -> List.of());
        }
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

        Steps table = this.app.bean(Steps.class);
        assertThat(table.settle(new MessageId("mail", done), "mail", true)).isTrue();
        assertThat(table.settle(new MessageId("mail", notDone), "mail", false)).isTrue();
        assertThat(inbox.replayFailed("mail").sent()).isEqualTo(2);
        awaitCaughtUp("mail");
        assertThat(effectsOf("mail")).containsExactly(done, notDone);
        assertThat(this.calls.of("mail")).containsExactly(done, notDone, notDone);
        assertThat(List.of(steps("mail", "executed"), steps("mail", "replayed")))
                .containsOnly(1.0);
    }

    @Test
    void stepsHaveNamesOfTheirOwnAndResultsThatCanBeReadAgain(CapturedOutput output) {
        IdempotentOperations operations = this.app.bean(IdempotentOperations.class);
        operations.execute(MessageId.of("requests", "1"), () -> {
            context().stepAtMostOnce("a", () -> {});
            assertThatIllegalStateException()
                    .isThrownBy(() -> context().step("a", String.class, key -> key))
                    .withMessageContaining("Give each call another name");
            assertThat(context().step("b", Receipt[].class, key -> new Receipt[] {new Receipt(key, "b", 1)}))
                    .hasSize(1);
            assertThat(context().step("c", Receipt.class, key -> null)).isNull();
        });
        assertThat(steps("requests", "executed")).isEqualTo(3);
        send("misuse", "misuse");
        awaitCaughtUp("misuse");
        assertThat(output).contains("A result of type java.util.List could not be read again");
        assertThat(steps("misuse", "executed")).isZero();
    }

    /** The step could not be recorded after the call, so every attempt would repeat it. */
    @ParameterizedTest
    @ValueSource(strings = {" ", "charge/\0", "charge/\ud800"})
    void aNameThatDatabasesRefuseIsRefusedBeforeTheCall(String name) {
        List<String> called = new CopyOnWriteArrayList<>();
        IdempotentOperations operations = this.app.bean(IdempotentOperations.class);
        assertThatIllegalArgumentException()
                .isThrownBy(() -> operations.execute(MessageId.of("requests", "3"), () -> {
                    context().step(name, Boolean.class, called::add);
                }))
                .withMessageContaining("name of a step");
        assertThat(called).isEmpty();
    }

    @Test
    void aPoolWithoutASecondConnectionIsRefusedAtTheFirstStep() {
        MessageId id = MessageId.of("requests", "2");
        for (int size = 1; size <= 2; size++) {
            try (TestApplication other = TestApplication.start(
                    this.database,
                    List.of("idempotency.schema.mode=validate", "spring.datasource.hikari.maximum-pool-size=" + size),
                    Consumers.class)) {
                IdempotentOperations operations = other.bean(IdempotentOperations.class);
                Runnable work = () -> context().stepAtMostOnce("a", () -> {});
                if (size == 1) {
                    assertThatIllegalStateException()
                            .isThrownBy(() -> operations.execute(id, work))
                            .withMessageContaining("maximum-pool-size to 2");
                } else {
                    assertThat(operations.execute(id, work).duplicate()).isFalse();
                }
            }
        }
    }
}
