package dev.idempotency.listener;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.IdempotentListener;
import dev.idempotency.app.ApplicationTest;
import dev.idempotency.app.Effects;
import dev.idempotency.app.Failures;
import dev.idempotency.app.Outcomes;
import dev.idempotency.app.TestApplication;
import dev.idempotency.listener.ledger.Account;
import dev.idempotency.listener.ledger.AccountRepository;
import dev.idempotency.listener.ledger.Booking;
import dev.idempotency.listener.ledger.BookingRepository;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.persistence.autoconfigure.EntityScan;
import org.springframework.context.annotation.Import;
import org.springframework.data.jdbc.repository.config.EnableJdbcRepositories;
import org.springframework.data.jpa.repository.config.EnableJpaRepositories;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.kafka.annotation.KafkaListener;
import org.springframework.orm.jpa.JpaTransactionManager;
import org.springframework.transaction.UnexpectedRollbackException;
import org.springframework.transaction.annotation.Isolation;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

class ListenerTransactionsIT extends ApplicationTest {

    @Test
    void theListenersOwnTransactionAttributesHold() {
        try (TestApplication app = start(WithAttributes.class)) {
            app.send(this.topic, "1", "a");
            app.awaitCaughtUp(this.group, this.topic);
            assertThat(app.bean(Effects.class).all()).containsExactly("serializable a, with a timeout");
        }
    }

    @Test
    void anExceptionForWhichTheListenerCommitsLeavesWorkAndClaimCommitted() {
        try (TestApplication app = start(CommitsDespiteException.class, Failures.class, Outcomes.class)) {
            app.send(this.topic, "1", "a");
            app.awaitCaughtUp(this.group, this.topic);
            assertThat(app.bean(Effects.class).all()).containsExactly("a");
            assertThat(app.bean(Failures.class).causes()).hasSize(1);
            assertThat(app.bean(Outcomes.class).duplicates).hasSize(1);
            assertThat(app.bean(Outcomes.class).processed).hasSize(1);
            assertThat(app.bean(Outcomes.class).failed).hasValue(0);
        }
    }

    @ParameterizedTest
    @ValueSource(classes = {FailsAfterCommit.class, FailsAfterCommitOfPoll.class})
    void whatIsThrownAfterTheCommitDoesNotMakeAFailureOfIt(Class<?> listener) {
        try (TestApplication app = start(listener, Failures.class, Outcomes.class)) {
            app.send(this.topic, "1", "a");
            app.awaitCaughtUp(this.group, this.topic);
            assertThat(app.bean(Effects.class).all()).containsExactly("a");
            assertThat(app.bean(Outcomes.class).processed).hasSize(1);
            assertThat(app.bean(Outcomes.class).failed).hasValue(0);
            assertThat(app.bean(Outcomes.class).duplicates).hasSize(1);
            assertThat(app.bean(Failures.class).recovered()).isEmpty();
        }
    }

    @Test
    void aFailureThatMarkedTheTransactionIsNotHiddenByTheListener() {
        try (TestApplication app = start(
                List.of("spring.jpa.hibernate.ddl-auto=create"),
                CatchesInner.class,
                InnerService.class,
                TestApplication.Everything.class,
                Failures.class)) {
            app.send(this.topic, "1", "service");
            app.send(this.topic, "2", "repository");
            app.send(this.topic, "3", "own");
            app.awaitCaughtUp(this.group, this.topic);
            assertThat(app.bean(Effects.class).all()).isEmpty();
            assertThat(app.bean(Failures.class).causes())
                    .as("what the listener throws itself comes unchanged")
                    .contains(CatchesInner.OWN)
                    .filteredOn(cause -> cause != CatchesInner.OWN)
                    .isNotEmpty()
                    .allSatisfy(cause -> assertThat(cause).isInstanceOf(UnexpectedRollbackException.class));
        }
    }

    @Test
    void jpaSpringDataJdbcAndTheClaimShareOneTransaction() {
        try (TestApplication app = start(
                List.of("spring.jpa.hibernate.ddl-auto=create"),
                JpaListener.class,
                TestApplication.Everything.class,
                Failures.class,
                Outcomes.class)) {
            assertThat(app.context().getBean("transactionManager")).isInstanceOf(JpaTransactionManager.class);
            app.send(this.topic, "1", "alice");
            app.send(this.topic, "1", "alice");
            app.awaitCaughtUp(this.group, this.topic);
            assertThat(app.jdbc().queryForObject("select balance from account where name = 'alice'", Integer.class))
                    .isEqualTo(1);
            assertThat(app.jdbc().queryForList("select text from booking", String.class))
                    .containsExactly("alice");
            assertThat(app.bean(Effects.class).all()).containsExactly("alice");
            assertThat(app.bean(Failures.class).causes())
                    .as("the first attempt")
                    .hasSize(1);
            assertThat(app.bean(Outcomes.class).duplicates).hasSize(1);
        }
    }

    @Import(Effects.class)
    static class WithAttributes {

        private final Effects effects;
        private final JdbcTemplate jdbc;

        WithAttributes(Effects effects, JdbcTemplate jdbc) {
            this.effects = effects;
            this.jdbc = jdbc;
        }

        @KafkaListener(topics = "${topic}", groupId = "${group}")
        @IdempotentListener
        @Transactional(isolation = Isolation.SERIALIZABLE, timeout = 17)
        void on(String payload) {
            String isolation = this.jdbc.queryForObject("show transaction_isolation", String.class);
            boolean timeout = TransactionSynchronizationManager.getResourceMap().values().stream()
                    .anyMatch(resource -> resource.toString() != null
                            && resource instanceof org.springframework.transaction.support.ResourceHolderSupport holder
                            && holder.hasTimeout()
                            && holder.getTimeToLiveInSeconds() <= 17);
            this.effects.happen(isolation + " " + payload + (timeout ? ", with a timeout" : ""));
        }
    }

    @Import(Effects.class)
    static class CommitsDespiteException {

        private final Effects effects;

        CommitsDespiteException(Effects effects) {
            this.effects = effects;
        }

        @KafkaListener(topics = "${topic}", groupId = "${group}")
        @IdempotentListener
        @Transactional(noRollbackFor = IllegalStateException.class)
        void on(String payload) {
            this.effects.happen(payload);
            throw new IllegalStateException("not a reason to roll back");
        }
    }

    @Import(Effects.class)
    static class FailsAfterCommit {

        private final Effects effects;

        FailsAfterCommit(Effects effects) {
            this.effects = effects;
        }

        @KafkaListener(topics = "${topic}", groupId = "${group}")
        @IdempotentListener
        void on(String payload) {
            this.effects.happen(payload);
            TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {

                @Override
                public void afterCommit() {
                    throw new ClassCastException("which error handlers do not retry");
                }
            });
        }
    }

    static class FailsAfterCommitOfPoll extends FailsAfterCommit {

        FailsAfterCommitOfPoll(Effects effects) {
            super(effects);
        }

        @Override
        @KafkaListener(topics = "${topic}", groupId = "${group}")
        @IdempotentListener(transactionPerPoll = "true")
        void on(String payload) {
            super.on(payload);
        }
    }

    static class InnerService {

        @Transactional
        void fail() {
            throw new ArithmeticException("inner");
        }
    }

    @Import(Effects.class)
    @EntityScan(basePackageClasses = Account.class)
    @EnableJpaRepositories(basePackageClasses = AccountRepository.class)
    static class CatchesInner {

        static final UnexpectedRollbackException OWN = new UnexpectedRollbackException("of an inner transaction");

        private final Effects effects;
        private final InnerService service;
        private final AccountRepository accounts;

        CatchesInner(Effects effects, InnerService service, AccountRepository accounts) {
            this.effects = effects;
            this.service = service;
            this.accounts = accounts;
        }

        @KafkaListener(topics = "${topic}", groupId = "${group}")
        @IdempotentListener
        void on(String payload) {
            this.effects.happen(payload);
            if (payload.equals("own")) {
                throw OWN;
            }
            try {
                if (payload.equals("service")) {
                    this.service.fail();
                } else {
                    this.accounts.findById(null);
                }
            } catch (RuntimeException ex) {
                // All seems well.
            }
        }
    }

    @Import(Effects.class)
    @EntityScan(basePackageClasses = Account.class)
    @EnableJpaRepositories(basePackageClasses = AccountRepository.class)
    @EnableJdbcRepositories(basePackageClasses = AccountRepository.class)
    static class JpaListener {

        private final AtomicInteger calls = new AtomicInteger();
        private final AccountRepository accounts;
        private final BookingRepository bookings;
        private final Effects effects;

        JpaListener(AccountRepository accounts, BookingRepository bookings, Effects effects, JdbcTemplate jdbc) {
            this.accounts = accounts;
            this.bookings = bookings;
            this.effects = effects;
            jdbc.execute("create table booking (id serial primary key, text varchar(100) not null)");
        }

        @KafkaListener(topics = "${topic}", groupId = "${group}")
        @IdempotentListener
        @Transactional
        void on(String name) {
            Account account = this.accounts.findById(name).orElseGet(() -> new Account(name));
            account.credit(1);
            this.accounts.save(account);
            this.bookings.save(new Booking(null, name));
            this.effects.happen(name);
            if (this.calls.incrementAndGet() == 1) {
                throw new IllegalStateException("all three are undone, and the claim");
            }
        }
    }
}
