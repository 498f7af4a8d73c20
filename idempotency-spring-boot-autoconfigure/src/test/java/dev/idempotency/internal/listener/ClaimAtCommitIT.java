package dev.idempotency.internal.listener;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.idempotency.ClaimTimeoutException;
import dev.idempotency.DeduplicationStrategy;
import dev.idempotency.IdempotentListener;
import dev.idempotency.RecordCoordinates;
import dev.idempotency.app.ApplicationTest;
import dev.idempotency.app.Effects;
import dev.idempotency.app.HasEffects;
import dev.idempotency.app.Outcomes;
import dev.idempotency.app.RoundTrips;
import dev.idempotency.app.TestApplication;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.aop.support.DefaultPointcutAdvisor;
import org.springframework.aop.support.annotation.AnnotationMatchingPointcut;
import org.springframework.context.annotation.Bean;
import org.springframework.core.Ordered;
import org.springframework.kafka.annotation.KafkaListener;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

/** Behavior of claims at the commit that the delivery contract does not cover. */
class ClaimAtCommitIT extends ApplicationTest {

    @ParameterizedTest
    @ValueSource(
            strings = {
                "preferQueryMode=simple",
                "preferQueryMode=extendedForPrepared",
                "prepareThreshold=0",
                "prepareThreshold=1",
                "stringtype=unspecified",
                "autosave=conservative",
                "reWriteBatchedInserts=true"
            })
    void theDriverMayBeConfiguredAsOneLikes(String parameter) {
        try (TestApplication app = start(
                List.of("spring.datasource.hikari.data-source-properties." + parameter),
                Flushing.class,
                Outcomes.class)) {
            processTwice(app);
            assertThat(app.bean(Outcomes.class).duplicates).hasSize(4);
            // Of consecutive duplicates, only the first calls the listener and is rolled back.
            assertThat(app.bean(Flushing.class).calls()).isEqualTo(8);
        }
    }

    /** After a new message, claims are made at the commit again. */
    private void processTwice(TestApplication app) {
        for (String message : List.of("a", "a", "a", "b", "c", "c", "d", "a", "e")) {
            app.send(this.topic, message, message);
        }
        app.awaitCaughtUp(this.group, this.topic);
        assertThat(app.bean(Effects.class).all())
                .containsExactly("a", "b", "c", "d", "e", "flush a", "flush b", "flush c", "flush d", "flush e");
    }

    @Test
    void aCommitWhoseAnswerIsLostIsFound() {
        try (RoundTrips proxy = new RoundTrips(this.database.jdbcUrl());
                TestApplication app =
                        start(List.of("spring.datasource.url=" + proxy.jdbcUrl()), Flushing.class, Outcomes.class)) {
            app.send(this.topic, "a", "a");
            app.awaitCaughtUp(this.group, this.topic);
            proxy.cutNextCommit();
            app.send(this.topic, "b", "b");
            app.send(this.topic, "c", "c");
            app.awaitCaughtUp(this.group, this.topic);
            assertThat(proxy.isCutting()).isFalse();
            assertThat(app.bean(Effects.class).all()).containsExactly("a", "b", "c", "flush a", "flush b", "flush c");
        }
    }

    @Test
    void aClaimThatAnotherTransactionHoldsIsGivenUpInTime() throws SQLException {
        try (TestApplication app = start(List.of("idempotency.claim.timeout=1s"), Flushing.class, Failures.class);
                Connection other = DriverManager.getConnection(this.database.jdbcUrl());
                Statement statement = other.createStatement()) {
            other.setAutoCommit(false);
            statement.execute("insert into idempotency_processed values ('%s/Flushing.on', 'a', now(), 't', 0, 0)"
                    .formatted(this.group));
            app.send(this.topic, "a", "a");
            List<Throwable> failures = app.bean(Failures.class).failures;
            Awaitility.await().until(() -> !failures.isEmpty());
            assertThat(failures.get(0)).isInstanceOf(ClaimTimeoutException.class);
            other.rollback();
            app.awaitCaughtUp(this.group, this.topic);
            assertThat(app.bean(Effects.class).all()).containsExactly("a", "flush a");
        }
    }

    static class Failures extends Outcomes {

        private final List<Throwable> failures = new CopyOnWriteArrayList<>();

        @Override
        public void failed(RecordCoordinates coordinates, Throwable failure) {
            this.failures.add(failure);
        }
    }

    @Test
    void aTransactionAroundTheListenerIsClaimedFirst() {
        try (TestApplication app = start(Flushing.class, Around.class, Outcomes.class)) {
            processTwice(app);
            assertThat(app.bean(Flushing.class).calls()).isEqualTo(5);
        }
    }

    @Test
    void aTableThatTakesNoClaimsIsNotTheMessagesFault() {
        try (TestApplication app = start(Flushing.class, Outcomes.class)) {
            app.jdbc().execute("""
                    create function refuse() returns trigger language plpgsql as $$
                    begin
                        raise using errcode = '42501', message = 'permission denied';
                    end $$;
                    create trigger refuse before insert on idempotency_processed execute function refuse()
                    """);
            app.send(this.topic, "a", "a");
            Awaitility.await().until(() -> app.bean(Flushing.class).calls() > 5);
            app.jdbc().execute("drop trigger refuse on idempotency_processed");
            app.awaitCaughtUp(this.group, this.topic);
            assertThat(app.bean(Effects.class).all()).containsExactly("a", "flush a");
        }
    }

    @Test
    void whereItCannotBeOrGainsNothingTheApplicationDoesNotStart() {
        assertThatThrownBy(() -> start(TestApplication.WithJpa.class, Flushing.class, Unsuitable.class))
                .rootCause()
                .message()
                .contains("needs a JdbcTransactionManager, and its own is a JpaTransactionManager")
                .contains(
                        "does not go with a batch listener",
                        "does not go with transactionPerPoll",
                        "does not go with storeReply",
                        "does not go with strategy = DeduplicationStrategy.OFFSET");
        assertThatThrownBy(() -> TestApplication.start(
                        "jdbc:h2:mem:at-commit", List.of("topic=" + this.topic, "group=" + this.group), Flushing.class))
                .rootCause()
                .message()
                .contains("needs PostgreSQL");
    }

    @Test
    void byDefaultOnlyThoseListenersHaveItThatGainByIt() {
        try (TestApplication app = start(
                List.of("idempotency.claim.at-commit=true", "spring.kafka.listener.auto-startup=false"),
                Indifferent.class,
                Outcomes.class)) {
            assertThat(app.bean(Outcomes.class).consumers).hasSize(2);
        }
        assertThatThrownBy(() -> start(
                        List.of("idempotency.claim.at-commit=true"), TestApplication.WithJpa.class, Indifferent.class))
                .rootCause()
                .message()
                .contains("idempotency.claim.at-commit", "JpaTransactionManager")
                .doesNotContain("batch listener");
    }

    static class Unsuitable {

        @KafkaListener(topics = "${topic}", groupId = "batch", batch = "true")
        @IdempotentListener(consumer = "batch", claimAtCommit = "true")
        void batch(List<String> payloads) {}

        @KafkaListener(topics = "${topic}", groupId = "poll")
        @IdempotentListener(consumer = "poll", claimAtCommit = "true", transactionPerPoll = "true")
        void poll(String payload) {}

        @KafkaListener(topics = "${topic}", groupId = "reply")
        @IdempotentListener(consumer = "reply", claimAtCommit = "true", storeReply = true)
        String reply(String payload) {
            return payload;
        }

        @KafkaListener(topics = "${topic}", groupId = "offset")
        @IdempotentListener(consumer = "offset", claimAtCommit = "true", strategy = DeduplicationStrategy.OFFSET)
        void offset(String payload) {}
    }

    static class Indifferent {

        @KafkaListener(topics = "${topic}", groupId = "batch", batch = "true")
        @IdempotentListener("batch")
        void batch(List<String> payloads) {}

        @KafkaListener(topics = "${topic}", groupId = "record")
        @IdempotentListener("record")
        void on(String payload) {}
    }

    /** Writes just before the commit, like libraries that collect statements. */
    static class Flushing extends HasEffects {

        private final AtomicInteger calls = new AtomicInteger();

        int calls() {
            return this.calls.get();
        }

        @KafkaListener(topics = "${topic}", groupId = "${group}")
        @IdempotentListener(claimAtCommit = "true")
        void on(String payload) {
            this.calls.incrementAndGet();
            this.effects.happen(payload);
            beforeCommit(() -> this.effects.happen("flush " + payload));
        }
    }

    static class Around {

        @Bean
        static DefaultPointcutAdvisor transactionAround(PlatformTransactionManager manager) {
            MethodInterceptor around = call -> new TransactionTemplate(manager).execute(status -> proceed(call));
            DefaultPointcutAdvisor advisor = new DefaultPointcutAdvisor(
                    AnnotationMatchingPointcut.forMethodAnnotation(KafkaListener.class), around);
            advisor.setOrder(Ordered.HIGHEST_PRECEDENCE);
            return advisor;
        }

        private static Object proceed(MethodInvocation call) {
            try {
                return call.proceed();
            } catch (Throwable ex) {
                throw new IllegalStateException(ex);
            }
        }
    }
}
