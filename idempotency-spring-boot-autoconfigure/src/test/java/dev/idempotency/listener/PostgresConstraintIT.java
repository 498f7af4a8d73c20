package dev.idempotency.listener;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.IdempotentListener;
import dev.idempotency.Strategy;
import dev.idempotency.app.Effects;
import dev.idempotency.listener.ledger.Account;
import dev.idempotency.listener.ledger.Receipt;
import dev.idempotency.testing.TestDatabase;
import dev.idempotency.testing.TestPostgres;
import jakarta.persistence.EntityManager;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Savepoint;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.persistence.autoconfigure.EntityScan;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;
import org.springframework.dao.DuplicateKeyException;
import org.springframework.data.jpa.repository.support.SimpleJpaRepository;
import org.springframework.jdbc.core.ConnectionCallback;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.kafka.annotation.KafkaListener;
import org.springframework.kafka.config.ContainerPostProcessor;
import org.springframework.kafka.listener.AbstractMessageListenerContainer;
import org.springframework.kafka.listener.BatchListenerFailedException;
import org.springframework.kafka.listener.ContainerProperties.AckMode;
import org.springframework.kafka.support.Acknowledgment;
import org.springframework.transaction.annotation.Propagation;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

class PostgresConstraintIT extends AbstractConstraintIT {

    private final TestDatabase database = TestPostgres.createDatabase();

    @Override
    String jdbcUrl() {
        return this.database.jdbcUrl();
    }

    @Override
    Class<?> listeners() {
        return MoreListeners.class;
    }

    @Override
    String[] kinds() {
        return new String[] {"records", "polls", "batches", "named", "jpa", "deferred", "manual", "unusual", "saved"};
    }

    @AfterAll
    void drop() {
        this.database.close();
    }

    @ParameterizedTest
    @ValueSource(strings = {"batches", "named"})
    void aBatchIsTakenApartToFindTheDuplicates(String kind) {
        aMessageWhoseRowIsThereIsADuplicateAndWhatElseItDidIsUndone(kind);
        aViolationOfAnotherConstraintIsAFailureOfThatMessageAlone(kind);
    }

    @Test
    void whatJpaWritesAtTheCommitIsToldApart() {
        deliver("jpa", "jpa-a", "jpa-a", "jpa-b", "jpa-a");
        assertThat(effects("jpa-")).containsExactly("jpa-a", "jpa-b");
        assertThat(tally("jpa").duplicates).hasSize(2);
        assertThat(tally("jpa").failed).hasValue(0);
    }

    @Test
    void whatARepositoryPersistsIsToldApart() {
        deliver("saved", "saved-a", "saved-a", "saved-b");
        assertThat(effects("saved-")).containsExactly("saved-a", "saved-b");
        assertThat(tally("saved").duplicates).hasSize(1);
        assertThat(tally("saved").failed).hasValue(0);
    }

    @Test
    void aConstraintThatIsCheckedAtTheCommitIsToldApart() {
        deliver("deferred", "deferred-a", "deferred-a", "deferred-own twice", "deferred-b");
        assertThat(effects("deferred-")).containsExactly("deferred-a", "deferred-b");
        assertThat(tally("deferred").duplicates).hasSize(1);
        assertThat(deadLetters("deferred", "deferred")).containsExactly("deferred-own twice");
    }

    @Test
    void aDuplicateIsAcknowledgedWhereTheListenerAcknowledges() {
        deliver("manual", "manual-a", "manual-a");
        assertThat(effects("manual-")).containsExactly("manual-a");
        assertThat(tally("manual").duplicates).hasSize(1);
    }

    /** In the second the listener's own work would be lost: that of the first was rolled back when its commit failed. */
    @ParameterizedTest
    @ValueSource(strings = {"in another transaction", "late in another"})
    void aViolationInAnotherTransactionOfAMessageThatWasProcessedIsAFailure(String how) {
        deliver("unusual", "1 " + how, "1 " + how);
        assertThat(effects("1 " + how)).containsExactly("1 " + how);
        assertThat(deadLetters("unusual", "1 " + how)).containsExactly("1 " + how);
    }

    /** The driver gives the violation as the cause of what every later statement fails with. */
    @ParameterizedTest
    @ValueSource(strings = {"1 caught", "2 caught before another statement"})
    void aViolationThatTheListenerHasCaughtIsAFailure(String payload) {
        deliver("unusual", payload, payload);
        assertThat(effects(payload)).containsExactly(payload);
        assertThat(deadLetters("unusual", payload)).containsExactly(payload);
    }

    @Test
    void aViolationInASavepointThatTheListenerReturnsToIsItsOwnBusiness() {
        deliver("unusual", "1 in a savepoint", "1 in a savepoint");
        assertThat(effects("1 in a savepoint")).containsExactly("1 in a savepoint", "1 in a savepoint");
    }

    /** As mappers do that collect statements. */
    @Test
    void aViolationByWhatIsDoneBeforeTheCommitCounts() {
        int duplicates = tally("unusual").duplicates.size();
        deliver("unusual", "1 late", "1 late");
        assertThat(effects("1 late")).containsOnlyOnce("1 late");
        assertThat(deadLetters("unusual", "1 late")).doesNotContain("1 late");
        assertThat(tally("unusual").duplicates).hasSize(duplicates + 1);
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void theSameMessageElsewhereIsWaitedForAndOnlyItsCommitMakesADuplicate(boolean commits) throws Exception {
        String payload = "elsewhere " + commits;
        int duplicates = tally("records").duplicates.size();
        try (Connection other = DriverManager.getConnection(this.database.jdbcUrl());
                Statement statement = other.createStatement()) {
            other.setAutoCommit(false);
            statement.executeUpdate("insert into payment (name) values ('" + payload + "')");
            CompletableFuture<Void> delivery = CompletableFuture.runAsync(() -> deliver("records", payload));
            Awaitility.await().atMost(Duration.ofSeconds(30)).until(this::isSomebodyWaiting);
            if (commits) {
                other.commit();
            } else {
                other.rollback();
            }
            delivery.get();
        }
        assertThat(effects(payload)).hasSize(commits ? 0 : 1);
        assertThat(tally("records").duplicates).hasSize(duplicates + (commits ? 1 : 0));
        assertThat(deadLetters("records", payload)).isEmpty();
    }

    private boolean isSomebodyWaiting() {
        return this.app.jdbc().queryForObject("select count(*) from pg_locks where not granted", Integer.class) > 0;
    }

    @Transactional(propagation = Propagation.REQUIRES_NEW)
    static class InAnotherTransaction {

        private final Payments payments;

        InAnotherTransaction(Payments payments) {
            this.payments = payments;
        }

        void insert(String payload) {
            this.payments.insert(payload);
        }
    }

    @EntityScan(basePackageClasses = Account.class)
    @Import(InAnotherTransaction.class)
    static class MoreListeners extends Listeners {

        private final Effects effects;
        private final JdbcTemplate jdbc;
        private final EntityManager entities;
        private final InAnotherTransaction inAnother;

        MoreListeners(
                Payments payments,
                Effects effects,
                JdbcTemplate jdbc,
                EntityManager entities,
                InAnotherTransaction inAnother) {
            super(payments);
            this.effects = effects;
            this.jdbc = jdbc;
            this.entities = entities;
            this.inAnother = inAnother;
            jdbc.execute("create table settled (name varchar(100) not null,"
                    + " constraint settled_name unique (name) deferrable initially deferred)");
        }

        @KafkaListener(id = "batches", topics = "batches${suffix}", groupId = "batches${suffix}", batch = "true")
        @IdempotentListener(
                consumer = "batches",
                strategy = Strategy.UNIQUE_CONSTRAINT,
                uniqueConstraint = "payment_name")
        void batches(List<String> payloads) throws Exception {
            for (String payload : payloads) {
                this.payments.process(payload);
            }
        }

        @KafkaListener(id = "named", topics = "named${suffix}", groupId = "named${suffix}", batch = "true")
        @IdempotentListener(
                consumer = "named",
                strategy = Strategy.UNIQUE_CONSTRAINT,
                uniqueConstraint = "payment_name")
        void named(List<String> payloads) {
            for (String payload : payloads) {
                try {
                    this.payments.process(payload);
                } catch (Exception ex) {
                    throw new BatchListenerFailedException("named", ex, payloads.indexOf(payload));
                }
            }
        }

        @KafkaListener(id = "jpa", topics = "jpa${suffix}", groupId = "jpa${suffix}")
        @IdempotentListener(consumer = "jpa", strategy = Strategy.UNIQUE_CONSTRAINT, uniqueConstraint = "account_pkey")
        void jpa(String payload) {
            this.entities.persist(new Account(payload));
            this.effects.happen(payload);
        }

        @KafkaListener(id = "saved", topics = "saved${suffix}", groupId = "saved${suffix}")
        @IdempotentListener(
                consumer = "saved",
                strategy = Strategy.UNIQUE_CONSTRAINT,
                uniqueConstraint = "receipt_pkey")
        void saved(String payload) {
            new SimpleJpaRepository<Receipt, String>(Receipt.class, this.entities).save(new Receipt(payload));
            this.effects.happen(payload);
        }

        @KafkaListener(id = "deferred", topics = "deferred${suffix}", groupId = "deferred${suffix}")
        @IdempotentListener(
                consumer = "deferred",
                strategy = Strategy.UNIQUE_CONSTRAINT,
                uniqueConstraint = "public.settled_name")
        void deferred(String payload) {
            this.effects.happen(payload);
            for (int i = 0; i < (payload.endsWith("twice") ? 2 : 1); i++) {
                this.jdbc.update("insert into settled (name) values (?)", payload);
            }
        }

        @KafkaListener(
                id = "manual",
                topics = "manual${suffix}",
                groupId = "manual${suffix}",
                containerPostProcessor = "acknowledgedByHand")
        @IdempotentListener(
                consumer = "manual",
                strategy = Strategy.UNIQUE_CONSTRAINT,
                uniqueConstraint = "payment_name")
        int manual(String payload, Acknowledgment acknowledgment) throws Exception {
            this.payments.process(payload);
            acknowledgment.acknowledge();
            return 1;
        }

        @Bean
        static ContainerPostProcessor<Object, Object, AbstractMessageListenerContainer<Object, Object>>
                acknowledgedByHand() {
            return container -> container.getContainerProperties().setAckMode(AckMode.MANUAL);
        }

        @KafkaListener(id = "unusual", topics = "unusual${suffix}", groupId = "unusual${suffix}")
        @IdempotentListener(
                consumer = "unusual",
                strategy = Strategy.UNIQUE_CONSTRAINT,
                uniqueConstraint = "payment_name")
        void unusual(String payload) {
            this.effects.happen(payload);
            switch (payload.substring(2)) {
                case "in another transaction" -> this.inAnother.insert(payload);
                case "caught" -> insertAndCatch(() -> this.payments.insert(payload));
                case "caught before another statement" -> {
                    insertAndCatch(() -> this.payments.insert(payload));
                    this.jdbc.update("update sole set id = id");
                }
                case "late" -> beforeCommit(() -> this.payments.insert(payload));
                case "late in another" -> beforeCommit(() -> this.inAnother.insert(payload));
                default ->
                    this.jdbc.execute((ConnectionCallback<Boolean>) connection -> {
                        Savepoint before = connection.setSavepoint();
                        try (Statement statement = connection.createStatement()) {
                            statement.executeUpdate("insert into payment (name) values ('" + payload + "')");
                            return true;
                        } catch (SQLException ex) {
                            connection.rollback(before);
                            return false;
                        }
                    });
            }
        }

        private static void insertAndCatch(Runnable insert) {
            try {
                insert.run();
            } catch (DuplicateKeyException ex) {
                // It is there, so all seems well.
            }
        }

        private static void beforeCommit(Runnable insert) {
            TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {

                @Override
                public void beforeCommit(boolean readOnly) {
                    insert.run();
                }
            });
        }
    }
}
