package dev.idempotency.listener;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.tuple;

import dev.idempotency.DuplicateKind;
import dev.idempotency.IdempotentListener;
import dev.idempotency.UnprotectedListenerException;
import dev.idempotency.app.ApplicationTest;
import dev.idempotency.app.Effects;
import dev.idempotency.app.Failures;
import dev.idempotency.app.Outcomes;
import dev.idempotency.app.TestApplication;
import dev.idempotency.observe.ConsumerDescription;
import dev.idempotency.observe.Duplicate;
import dev.idempotency.testing.TestDatabase;
import dev.idempotency.testing.TestKafka;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.aopalliance.intercept.MethodInterceptor;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledForJreRange;
import org.junit.jupiter.api.condition.JRE;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.kafka.annotation.KafkaListener;
import org.springframework.kafka.config.ContainerPostProcessor;
import org.springframework.kafka.listener.AbstractMessageListenerContainer;
import org.springframework.resilience.annotation.EnableResilientMethods;
import org.springframework.resilience.annotation.Retryable;

class RecordListenerIT extends ApplicationTest {

    @Test
    void theSameMessageSentTwiceIsAppliedOnceAndAcknowledged() {
        try (TestApplication app = start(PayloadListener.class, Outcomes.class)) {
            app.send(this.topic, "1", "a");
            app.send(this.topic, "1", "a");
            app.send(this.topic, "2", "b");
            app.awaitCaughtUp(this.group, this.topic);
            assertThat(app.bean(Effects.class).all()).containsExactly("a", "b");
            Outcomes outcomes = app.bean(Outcomes.class);
            assertThat(outcomes.processed).hasSize(2);
            assertThat(outcomes.duplicates)
                    .extracting(
                            Duplicate::kind,
                            duplicate -> duplicate.coordinates().offset())
                    .containsExactly(tuple(DuplicateKind.REPUBLICATION, 1L));
        }
    }

    @Test
    @EnabledForJreRange(min = JRE.JAVA_21)
    void onVirtualThreadsTheSameMessageIsAppliedOnceToo() {
        try (TestApplication app = start(List.of("spring.threads.virtual.enabled=true"), PayloadListener.class)) {
            app.send(this.topic, "1", "a");
            app.send(this.topic, "1", "a");
            app.awaitCaughtUp(this.group, this.topic);
            assertThat(app.bean(Effects.class).all()).containsExactly("a");
        }
    }

    @Test
    void afterARewindToTheBeginningNothingIsAppliedTwice() {
        try (TestApplication app = start(PayloadListener.class, Outcomes.class)) {
            for (int i = 0; i < 50; i++) {
                app.send(this.topic, "id-" + i, "effect-" + i);
            }
            app.awaitCaughtUp(this.group, this.topic);
            app.rewind(this.group, this.topic);
            app.awaitCaughtUp(this.group, this.topic);
            assertThat(app.bean(Effects.class).counts()).hasSize(50).allSatisfy((name, count) -> assertThat(count)
                    .isOne());
            assertThat(app.bean(Outcomes.class).duplicates).hasSize(50).allSatisfy(duplicate -> {
                assertThat(duplicate.kind()).isEqualTo(DuplicateKind.REDELIVERY);
                assertThat(duplicate.age()).isPositive();
            });
        }
    }

    @Test
    void whenTheListenerThrowsClaimAndWorkRollBackAndTheRedeliveryRuns() {
        try (TestApplication app = start(FailingTwice.class, Failures.class, Outcomes.class)) {
            app.send(this.topic, "1", "a");
            app.awaitCaughtUp(this.group, this.topic);
            assertThat(app.bean(Effects.class).all()).containsExactly("a");
            assertThat(app.bean(Failures.class).causes()).containsExactly(FailingTwice.CHECKED, FailingTwice.UNCHECKED);
            assertThat(app.bean(Failures.class).recovered()).isEmpty();
            Outcomes outcomes = app.bean(Outcomes.class);
            assertThat(outcomes.failed).hasValue(2);
            assertThat(outcomes.processed).hasSize(1);
        }
    }

    @Test
    void whenTheCommitFailsTheMessageComesAgain() {
        try (TestApplication app = start(CommitFailsOnce.class, Failures.class, Outcomes.class)) {
            app.send(this.topic, "1", "a");
            app.awaitCaughtUp(this.group, this.topic);
            assertThat(app.bean(Effects.class).all()).containsExactly("a");
            assertThat(app.bean(Failures.class).causes()).hasSize(1);
            assertThat(app.bean(CommitFailsOnce.class).calls()).isEqualTo(2);
            assertThat(app.bean(Outcomes.class).processed).hasSize(1);
        }
    }

    @Test
    void whenTheConnectionIsCutDuringTheWorkTheMessageComesAgain() {
        CutsItsConnection.database = this.database;
        try (TestApplication app = start(CutsItsConnection.class, Failures.class)) {
            app.send(this.topic, "1", "a");
            app.awaitCaughtUp(this.group, this.topic);
            assertThat(app.bean(Effects.class).all()).containsExactly("a");
            assertThat(app.bean(Failures.class).recovered()).isEmpty();
            assertThat(app.bean(CutsItsConnection.class).calls()).isEqualTo(2);
        }
    }

    @Test
    void anAspectThatCallsAFailedListenerAgainStartsANewTransactionWithANewClaim() {
        try (TestApplication app = start(RetriedByAnAspect.class, Outcomes.class)) {
            app.send(this.topic, "1", "a");
            app.send(this.topic, "1", "a");
            app.awaitCaughtUp(this.group, this.topic);
            assertThat(app.bean(Effects.class).all()).containsExactly("a");
            assertThat(app.bean(Outcomes.class).processed).hasSize(1);
            assertThat(app.bean(Outcomes.class).duplicates).hasSize(1);
        }
    }

    @Test
    void theAdviceOfTheContainerIsCalledOnceADelivery() {
        try (TestApplication app = start(Advised.class)) {
            app.send(this.topic, "1", "a");
            app.awaitCaughtUp(this.group, this.topic);
            assertThat(app.bean(Effects.class).all()).containsExactly("a");
            assertThat(app.bean(AtomicInteger.class)).hasValue(1);
        }
    }

    @Test
    void twoConsumersOfOneTopicEachProcessAMessageOnce() {
        try (TestApplication app = start(TwoConsumers.class, Outcomes.class)) {
            app.send(this.topic, "1", "a");
            app.send(this.topic, "1", "a");
            app.awaitCaughtUp(this.group, this.topic);
            app.awaitCaughtUp(this.group + "-2", this.topic);
            assertThat(app.bean(Effects.class).all()).containsExactly("billing a", "shipping a");
            assertThat(app.bean(Outcomes.class).consumers)
                    .extracting(ConsumerDescription::name)
                    .containsExactlyInAnyOrder("billing", this.group + "-2/TwoConsumers.shipping");
        }
    }

    @Test
    void aListenerOfTwoTopicsProcessesAMessageOfEitherOnce() {
        String other = TestKafka.createTopic("other", 1);
        try (TestApplication app = start(List.of("other=" + other), TwoTopics.class, Outcomes.class)) {
            app.send(this.topic, "1", "a");
            app.send(other, "2", "b");
            app.send(other, "1", "a");
            app.awaitCaughtUp(this.group, this.topic);
            app.awaitCaughtUp(this.group, other);
            assertThat(app.bean(Effects.class).all()).containsExactly("a", "b");
            assertThat(app.bean(Outcomes.class).duplicates)
                    .extracting(Duplicate::kind)
                    .containsExactly(DuplicateKind.REPUBLICATION);
        }
    }

    @Test
    void aListenerCalledByHandIsRefusedRatherThanRunUnprotected() {
        try (TestApplication app = start(PayloadListener.class)) {
            PayloadListener listener = app.bean(PayloadListener.class);
            assertThatExceptionOfType(UnprotectedListenerException.class)
                    .isThrownBy(() -> listener.on("by hand"))
                    .withMessageContaining("PayloadListener.on");
            assertThat(app.bean(Effects.class).all()).isEmpty();
        }
    }

    @Test
    void whenSwitchedOffListenersRunAsIfTheLibraryWereAbsent() {
        try (TestApplication app = start(List.of("idempotency.enabled=false"), PayloadListener.class)) {
            app.send(this.topic, "1", "a");
            app.send(this.topic, "1", "a");
            app.awaitCaughtUp(this.group, this.topic);
            assertThat(app.bean(Effects.class).all()).containsExactly("a", "a");
            assertThat(app.jdbc()
                            .queryForObject(
                                    "select count(*) from pg_tables where tablename like 'idempotency%'",
                                    Integer.class))
                    .isZero();
        }
    }

    @Import(Effects.class)
    static class PayloadListener {

        private final Effects effects;

        PayloadListener(Effects effects) {
            this.effects = effects;
        }

        @KafkaListener(topics = "${topic}", groupId = "${group}")
        @IdempotentListener
        void on(String payload) {
            this.effects.happen(payload);
        }
    }

    @Import(Effects.class)
    static class FailingTwice {

        static final IOException CHECKED = new IOException("checked");
        static final IllegalStateException UNCHECKED = new IllegalStateException("unchecked");

        private final Effects effects;
        private final AtomicInteger calls = new AtomicInteger();

        FailingTwice(Effects effects) {
            this.effects = effects;
        }

        @KafkaListener(topics = "${topic}", groupId = "${group}")
        @IdempotentListener
        void on(String payload) throws IOException {
            this.effects.happen(payload);
            switch (this.calls.incrementAndGet()) {
                case 1 -> throw CHECKED;
                case 2 -> throw UNCHECKED;
                default -> {}
            }
        }
    }

    @Import(Effects.class)
    static class CommitFailsOnce {

        private final AtomicInteger calls = new AtomicInteger();
        private final Effects effects;
        private final JdbcTemplate jdbc;

        CommitFailsOnce(Effects effects, JdbcTemplate jdbc) {
            this.effects = effects;
            this.jdbc = jdbc;
            jdbc.execute("create table once (id integer unique deferrable initially deferred)");
            jdbc.update("insert into once (id) values (1)");
        }

        int calls() {
            return this.calls.get();
        }

        @KafkaListener(topics = "${topic}", groupId = "${group}")
        @IdempotentListener
        void on(String payload) {
            this.effects.happen(payload);
            this.jdbc.update("insert into once (id) values (?)", this.calls.incrementAndGet());
        }
    }

    @Import(Effects.class)
    static class CutsItsConnection {

        static TestDatabase database;

        private final AtomicInteger calls = new AtomicInteger();
        private final Effects effects;

        CutsItsConnection(Effects effects) {
            this.effects = effects;
        }

        int calls() {
            return this.calls.get();
        }

        @KafkaListener(topics = "${topic}", groupId = "${group}")
        @IdempotentListener
        void on(String payload) {
            this.effects.happen(payload);
            if (this.calls.incrementAndGet() == 1) {
                database.cutConnections();
            }
        }
    }

    @Import(Effects.class)
    @EnableResilientMethods
    static class RetriedByAnAspect {

        private final AtomicInteger calls = new AtomicInteger();
        private final Effects effects;

        RetriedByAnAspect(Effects effects) {
            this.effects = effects;
        }

        @Retryable(delay = 1)
        @KafkaListener(topics = "${topic}", groupId = "${group}")
        @IdempotentListener
        void on(String payload) {
            this.effects.happen(payload);
            if (this.calls.incrementAndGet() == 1) {
                throw new IllegalStateException("the first call fails");
            }
        }
    }

    @Import(Effects.class)
    static class Advised {

        private final Effects effects;

        Advised(Effects effects) {
            this.effects = effects;
        }

        @KafkaListener(topics = "${topic}", groupId = "${group}", containerPostProcessor = "advice")
        @IdempotentListener
        void on(String payload) {
            this.effects.happen(payload);
        }

        @Bean
        static AtomicInteger calls() {
            return new AtomicInteger();
        }

        @Bean
        static ContainerPostProcessor<Object, Object, AbstractMessageListenerContainer<Object, Object>> advice(
                AtomicInteger calls) {
            return container -> container.getContainerProperties().setAdviceChain((MethodInterceptor) invocation -> {
                if (invocation.getMethod().getName().equals("onMessage")) {
                    calls.incrementAndGet();
                }
                return invocation.proceed();
            });
        }
    }

    @Import(Effects.class)
    static class TwoConsumers {

        private final Effects effects;

        TwoConsumers(Effects effects) {
            this.effects = effects;
        }

        @KafkaListener(topics = "${topic}", groupId = "${group}")
        @IdempotentListener(consumer = "billing")
        void billing(String payload) {
            this.effects.happen("billing " + payload);
        }

        @KafkaListener(topics = "${topic}", groupId = "${group}-2")
        @IdempotentListener
        void shipping(String payload) {
            this.effects.happen("shipping " + payload);
        }
    }

    @Import(Effects.class)
    static class TwoTopics {

        private final Effects effects;

        TwoTopics(Effects effects) {
            this.effects = effects;
        }

        @KafkaListener(
                topics = {"${topic}", "${other}"},
                groupId = "${group}")
        @IdempotentListener
        void on(String payload) {
            this.effects.happen(payload);
        }
    }
}
