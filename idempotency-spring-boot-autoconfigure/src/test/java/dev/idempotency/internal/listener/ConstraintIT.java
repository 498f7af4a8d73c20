package dev.idempotency.internal.listener;

import static dev.idempotency.app.Thrown.assertThrown;
import static dev.idempotency.app.Thrown.undeclared;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.assertj.core.api.Assertions.tuple;

import dev.idempotency.DeduplicationStrategy;
import dev.idempotency.DuplicateKind;
import dev.idempotency.IdempotentListener;
import dev.idempotency.MessageId;
import dev.idempotency.RecordCoordinates;
import dev.idempotency.UnprotectedCallException;
import dev.idempotency.app.HasEffects;
import dev.idempotency.app.TestApplication;
import dev.idempotency.event.Duplicate;
import dev.idempotency.internal.dedup.ClaimStrategy;
import dev.idempotency.internal.dedup.InboundMessage;
import dev.idempotency.internal.dedup.JdbcStrategyFactory;
import jakarta.persistence.Entity;
import jakarta.persistence.EntityManager;
import jakarta.persistence.Id;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.sql.SQLException;
import java.sql.Savepoint;
import java.util.Collections;
import java.util.List;
import java.util.UUID;
import java.util.function.Function;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.persistence.autoconfigure.EntityScan;
import org.springframework.core.annotation.AliasFor;
import org.springframework.dao.DuplicateKeyException;
import org.springframework.jdbc.core.ConnectionCallback;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.kafka.support.Acknowledgment;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.UnexpectedRollbackException;
import org.springframework.transaction.support.TransactionTemplate;

/** A constraint of the application detects duplicates: which violations count, and which are failures. */
@ListenersTest.Application(
        beans = {TestApplication.WithJpa.class, ConstraintIT.Payments.class},
        properties = {"spring.jpa.hibernate.ddl-auto=create", "idempotency.checks.relaxed=merged-entity"})
class ConstraintIT extends ListenersTest {

    @Retention(RetentionPolicy.RUNTIME)
    @IdempotentListener(strategy = DeduplicationStrategy.UNIQUE_CONSTRAINT)
    @interface ByConstraint {

        @AliasFor(annotation = IdempotentListener.class, attribute = "uniqueConstraint")
        String value() default "payment_name";
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            Manual    | :a :a            | a     |
            OnJpa     | :a :a :b :a      | a b   |
            Deferred  | :a :a :twice :b  | a b   | twice
            """)
    void aMessageWhoseRowIsThereIsADuplicateHoweverItIsWritten(
            String name, String messages, String effects, String givenUp) {
        assertDelivered(name, messages, effects, givenUp);
        int duplicates = messages.split(":a").length - 1 + (messages.endsWith(":a") ? 1 : 0) - 1;
        assertThat(outcomes(listener(name)).duplicates)
                .extracting(Duplicate::kind, Duplicate::processedAt, Duplicate::age)
                .hasSize(duplicates)
                .containsOnly(tuple(DuplicateKind.UNKNOWN, null, null));
        assertThat(outcomes(listener(name)).duplicates)
                .allSatisfy(duplicate -> assertThat(duplicate.id().value())
                        .isEqualTo(duplicate.coordinates().toString()));
    }

    /** A message that is delivered twice is applied once, unless the violation was not in the listener's transaction. */
    @ParameterizedTest
    @CsvSource({
        "wrapped, 1, 0",
        "in-a-batch, 1, 0",
        "late, 1, 0",
        "elsewhere, 0, 2",
        "late-elsewhere, 0, 2",
        "in-another, 1, 1",
        "caught, 1, 1",
        "suppressed, 1, 1",
        "of-another, 1, 1",
        "with-another, 1, 1",
        "in-a-savepoint, 2, 0"
    })
    void onlyAViolationThatEndedTheListenersTransactionMakesADuplicate(String how, int applied, int givenUp) {
        deliver(Paying.class, ":" + how, ":" + how);
        assertThat(effects(Paying.class)).filteredOn(how::equals).hasSize(applied);
        assertThat(givenUp(Paying.class)).filteredOn(how::equals).hasSize(givenUp);
    }

    @Test
    void nothingIsClaimed() {
        assertThat(this.app.jdbc().queryForObject("select count(*) from idempotency_processed", Integer.class))
                .isZero();
    }

    @Test
    void withoutTheListenersTransactionNobodyIsLetIn() {
        assertThrown(
                UnprotectedCallException.class,
                () -> strategy().claim(List.of()),
                "no transaction of the store's DataSource");
    }

    @Test
    void aViolationWithWhichTheListenerReturnedMakesNoDuplicate() {
        Payments payments = this.app.bean(Payments.class);
        payments.insert("payment", "first");
        Throwable violation = catchThrowable(() -> payments.insert("payment", "first"));
        RecordCoordinates coordinates = new RecordCoordinates("topic", 0, 1);
        ConsumerRecord<?, ?> record = new ConsumerRecord<>("topic", 0, 1, null, "first");
        InboundMessage message =
                new InboundMessage(0, record, MessageId.of("consumer", "1"), coordinates, null, null, null);
        assertThat(strategy().refusalOf(message, violation)).isNotNull();
        assertThat(strategy().refusalOf(message, new UnexpectedRollbackException("marked", violation)))
                .isNull();
    }

    private ClaimStrategy strategy() {
        JdbcStrategyFactory strategies = this.app.bean(JdbcStrategyFactory.class);
        return strategies.byUniqueConstraint(strategies.findUniqueConstraint("payment_name"));
    }

    static class Paying extends Listener {

        @Autowired
        private Payments payments;

        @OwnTopic
        @ByConstraint
        void on(String payload) {
            happen(payload);
            this.payments.pay(payload);
        }
    }

    static class Manual extends Listener {

        @Autowired
        private Payments payments;

        @OwnTopic(containerFactory = "manual")
        @ByConstraint
        int on(String payload, Acknowledgment acknowledgment) {
            happen(payload);
            this.payments.insert("payment", payload);
            acknowledgment.acknowledge();
            return 1;
        }
    }

    @Entity(name = "account")
    static class Account {

        @Id
        private String name;

        protected Account() {}

        Account(String name) {
            this.name = name;
        }
    }

    static class OnJpa extends Listener {

        @Autowired
        private EntityManager entities;

        @OwnTopic
        @ByConstraint("account_pkey")
        void on(String payload) {
            this.entities.persist(new Account(payload));
            happen(payload);
        }
    }

    static class Deferred extends Listener {

        @Autowired
        private Payments payments;

        @OwnTopic
        @ByConstraint("public.settled_name")
        void on(String payload) {
            happen(payload);
            Collections.nCopies(payload.equals("twice") ? 2 : 1, payload)
                    .forEach(name -> this.payments.insert("settled", name));
        }
    }

    /** Inserts a row with a message's name, in the way that the name says. */
    @EntityScan(basePackageClasses = Account.class)
    static class Payments {

        private final JdbcTemplate jdbc;
        private final TransactionTemplate another;

        Payments(JdbcTemplate jdbc, PlatformTransactionManager transactions) {
            this.jdbc = jdbc;
            this.another = new TransactionTemplate(transactions);
            this.another.setPropagationBehavior(TransactionDefinition.PROPAGATION_REQUIRES_NEW);
            jdbc.execute("create table payment (name varchar(100) not null constraint payment_name unique,"
                    + " other varchar(100) constraint payment_other unique)");
            jdbc.execute("create table settled (name varchar(100) not null,"
                    + " constraint settled_name unique (name) deferrable initially deferred)");
        }

        void insert(String table, String name) {
            this.jdbc.update("insert into " + table + " (name) values (?)", name);
        }

        void pay(String payload) {
            Runnable insert = () -> insert("payment", payload);
            Runnable insertInAnother = () -> this.another.executeWithoutResult(status -> insert.run());
            switch (payload) {
                case "wrapped" -> failWith(ex -> new Exception("checked", new Error(ex)), insert);
                case "in-a-batch" -> this.jdbc.batchUpdate("insert into payment (name) values ('in-a-batch')");
                case "suppressed" -> failWith(Payments::suppressing, insert);
                case "of-another" ->
                    this.jdbc.update(
                            "insert into payment values (?, ?)",
                            UUID.randomUUID().toString(),
                            payload);
                case "with-another" -> failWith(ex -> new SQLException("of another", "23505", ex), insert);
                case "late" -> HasEffects.beforeCommit(insert);
                case "elsewhere" -> fail(insertInAnother);
                case "late-elsewhere" -> HasEffects.beforeCommit(() -> fail(insertInAnother));
                case "in-another" -> insertInAnother.run();
                case "caught" -> swallow(insert);
                default -> inSavepoint(payload);
            }
        }

        private static void fail(Runnable insertInAnother) {
            insertInAnother.run();
            throw new IllegalStateException("after another transaction has committed");
        }

        private static void failWith(Function<RuntimeException, Exception> failure, Runnable insert) {
            try {
                insert.run();
            } catch (RuntimeException ex) {
                throw undeclared(failure.apply(ex));
            }
        }

        private static Exception suppressing(RuntimeException violation) {
            Exception other = new IllegalStateException("something else");
            other.addSuppressed(violation);
            return other;
        }

        private static void swallow(Runnable insert) {
            try {
                insert.run();
            } catch (DuplicateKeyException ex) {
                // Like an application that ignores the error because the row exists.
            }
        }

        private void inSavepoint(String payload) {
            this.jdbc.execute((ConnectionCallback<?>) connection -> {
                Savepoint before = connection.setSavepoint();
                try {
                    insert("payment", payload);
                } catch (DuplicateKeyException ex) {
                    connection.rollback(before);
                }
                return null;
            });
        }
    }
}
