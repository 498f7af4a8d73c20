package dev.idempotency.listener;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.IdempotentListener;
import dev.idempotency.app.Effects;
import dev.idempotency.app.Outcomes;
import dev.idempotency.app.TestApplication;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.context.annotation.Import;
import org.springframework.dao.DataAccessException;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.kafka.annotation.KafkaListener;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/** After an error PostgreSQL commits nothing, and its driver does not say so. */
class SwallowedErrorIT extends OneBatchTest {

    @Override
    String listenerType() {
        return "single";
    }

    @ParameterizedTest
    @ValueSource(classes = {OfRecords.class, OfBatches.class, OfPolls.class, BeforeCommit.class})
    void aListenerThatCatchesAnErrorWhichItsTransactionDoesNotSurviveHasFailed(Class<?> listener) {
        try (TestApplication app = startWith(List.of(), listener, "1:a", "2:swallows", "3:c")) {
            app.awaitCaughtUp(this.group, this.topic);
            assertThat(app.bean(Effects.class).all()).containsExactly("a", "c");
            assertThat(deadLetters()).containsExactly("swallows");
            assertThat(app.bean(Outcomes.class).processed)
                    .extracting(id -> id.value())
                    .containsExactly("1", "3");
        }
    }

    @Test
    void soItHasWhereTheErrorIsTheLastOfAPoll() {
        try (TestApplication app = startWith(List.of(), OfPolls.class, "1:a", "2:b", "3:swallows")) {
            app.awaitCaughtUp(this.group, this.topic);
            assertThat(app.bean(Effects.class).all()).containsExactly("a", "b");
            assertThat(deadLetters()).containsExactly("swallows");
            assertThat(app.bean(Outcomes.class).processed).hasSize(2);
        }
    }

    @ParameterizedTest
    @ValueSource(classes = {OfRecords.class, OfPolls.class})
    void soItHasWhateverTheErrorWasThoughAStatementOfTheLibrarysFollows(Class<?> listener) {
        List<String> properties = List.of(
                "statement=insert into nowhere (id) values (1)",
                "idempotency.inbox.enabled=" + (listener == OfRecords.class));
        try (TestApplication app = startWith(properties, listener, "1:a", "2:swallows", "3:c")) {
            app.awaitCaughtUp(this.group, this.topic);
            assertThat(app.bean(Effects.class).all()).containsExactly("a", "c");
            assertThat(deadLetters()).containsExactly("swallows");
        }
    }

    @ParameterizedTest
    @ValueSource(classes = {OfRecords.class, OfBatches.class, OfPolls.class, CommitsDespiteException.class})
    void soItHasWithMessagesThatHaveNoKey(Class<?> listener) {
        List<String> withoutKeys = List.of("idempotency.key.on-missing=process");
        try (TestApplication app = startWith(withoutKeys, listener, ":a", ":swallows", ":c", ":reads")) {
            app.awaitCaughtUp(this.group, this.topic);
            assertThat(app.bean(Effects.class).all()).containsExactly("a", "c");
            assertThat(deadLetters()).containsExactly("swallows");
            assertThat(app.bean(Outcomes.class).missingKeys)
                    .extracting(coordinates -> coordinates.offset())
                    .containsExactlyInAnyOrder(0L, 2L, 3L);
        }
    }

    @Import({Effects.class, Outcomes.class})
    abstract static class Work {

        private final Effects effects;
        private final JdbcTemplate jdbc;

        @Value("${statement:insert into sole (id) values (1)}")
        private String statement;

        Work(Effects effects, JdbcTemplate jdbc) {
            this.effects = effects;
            this.jdbc = jdbc;
            jdbc.execute("create table sole (id integer primary key)");
            jdbc.update("insert into sole (id) values (1)");
        }

        final void process(String payload) {
            if (payload.equals("reads")) {
                return;
            }
            this.effects.happen(payload);
            if (payload.equals("swallows")) {
                swallowError();
            }
        }

        void swallowError() {
            try {
                this.jdbc.update(this.statement);
            } catch (DataAccessException ex) {
                // It is there, so all seems well.
            }
        }
    }

    static class OfRecords extends Work {

        OfRecords(Effects effects, JdbcTemplate jdbc) {
            super(effects, jdbc);
        }

        @KafkaListener(topics = "${topic}", groupId = "${group}")
        @IdempotentListener
        void on(String payload) {
            process(payload);
        }
    }

    static class CommitsDespiteException extends Work {

        CommitsDespiteException(Effects effects, JdbcTemplate jdbc) {
            super(effects, jdbc);
        }

        @KafkaListener(topics = "${topic}", groupId = "${group}")
        @IdempotentListener
        @Transactional(noRollbackFor = IllegalStateException.class)
        void on(String payload) {
            process(payload);
            if (payload.equals("swallows")) {
                throw new IllegalStateException("no reason to roll back");
            }
        }
    }

    /** The error comes last, as a statement after it would fail and be noticed. */
    static class OfBatches extends Work {

        OfBatches(Effects effects, JdbcTemplate jdbc) {
            super(effects, jdbc);
        }

        @KafkaListener(topics = "${topic}", groupId = "${group}", batch = "true")
        @IdempotentListener
        void on(List<String> payloads) {
            payloads.stream().filter(payload -> !payload.equals("swallows")).forEach(this::process);
            payloads.stream().filter("swallows"::equals).forEach(this::process);
        }
    }

    static class OfPolls extends Work {

        OfPolls(Effects effects, JdbcTemplate jdbc) {
            super(effects, jdbc);
        }

        @KafkaListener(topics = "${topic}", groupId = "${group}")
        @IdempotentListener(transactionPerPoll = "true")
        void on(String payload) {
            process(payload);
        }
    }

    /** As a {@code @TransactionalEventListener} does in that phase. */
    static class BeforeCommit extends OfRecords {

        BeforeCommit(Effects effects, JdbcTemplate jdbc) {
            super(effects, jdbc);
        }

        @Override
        void swallowError() {
            TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {

                @Override
                public void beforeCommit(boolean readOnly) {
                    BeforeCommit.super.swallowError();
                }
            });
        }
    }
}
