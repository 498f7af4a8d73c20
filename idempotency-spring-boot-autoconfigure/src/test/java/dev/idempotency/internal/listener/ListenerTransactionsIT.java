package dev.idempotency.internal.listener;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.IdempotentListener;
import dev.idempotency.app.TestApplication;
import dev.idempotency.listener.ledger.Account;
import dev.idempotency.listener.ledger.AccountRepository;
import dev.idempotency.listener.ledger.Booking;
import dev.idempotency.listener.ledger.BookingRepository;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.persistence.autoconfigure.EntityScan;
import org.springframework.dao.DataAccessException;
import org.springframework.data.jdbc.repository.config.EnableJdbcRepositories;
import org.springframework.data.jpa.repository.config.EnableJpaRepositories;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.orm.jpa.JpaTransactionManager;
import org.springframework.transaction.UnexpectedRollbackException;
import org.springframework.transaction.annotation.Isolation;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.ResourceHolderSupport;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/** Transactions of listeners, in an application with all that Spring Boot configures by itself. */
@ListenersTest.Application(
        beans = {
            TestApplication.Everything.class,
            ListenerTransactionsIT.Repositories.class,
            ListenerTransactionsIT.InnerService.class
        },
        properties = {"spring.jpa.hibernate.ddl-auto=create", "idempotency.key.on-missing=process"})
class ListenerTransactionsIT extends ListenersTest {

    @Test
    void theListenersOwnTransactionAttributesHold() {
        assertDelivered("WithAttributes", "1:a", "serializable,with-a-timeout", null);
    }

    @Test
    void anExceptionForWhichTheListenerCommitsLeavesWorkAndClaimCommitted() {
        assertDelivered("Commits", "1:a", "a", null);
        assertThat(failures(Commits.class)).hasSize(1);
        assertThat(outcomes(Commits.class).duplicates).hasSize(1);
        assertThat(outcomes(Commits.class).processed).hasSize(1);
        assertThat(outcomes(Commits.class).failed).hasValue(0);
    }

    @Test
    void aFailureThatMarkedTheTransactionIsNotHiddenByTheListener() {
        deliver(CatchesInner.class, "1:service", "2:repository", "3:own");
        assertThat(effects(CatchesInner.class)).isEmpty();
        assertThat(failures(CatchesInner.class))
                .as("what the listener throws itself comes unchanged")
                .contains(CatchesInner.OWN)
                .filteredOn(cause -> cause != CatchesInner.OWN)
                .isNotEmpty()
                .allSatisfy(cause -> assertThat(cause).isInstanceOf(UnexpectedRollbackException.class));
    }

    @Test
    void jpaSpringDataJdbcAndTheClaimShareOneTransaction() {
        assertThat(this.app.context().getBean("transactionManager")).isInstanceOf(JpaTransactionManager.class);
        assertDelivered("OnJpa", "1:alice 1:alice", "alice", null);
        JdbcTemplate jdbc = this.app.jdbc();
        assertThat(jdbc.queryForObject("select balance from account where name = 'alice'", Integer.class))
                .isEqualTo(1);
        assertThat(jdbc.queryForList("select text from booking", String.class)).containsExactly("alice");
        assertThat(this.app.bean(OnJpa.class).calls()).hasSize(2);
        assertThat(outcomes(OnJpa.class).duplicates).hasSize(1);
    }

    /** Though a statement of the library's follows, or nothing is claimed as the messages have no key. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            SwallowsBeforeCommit | 1:a 2:swallows 3:c
            SwallowsWithInbox    | 1:a 2:swallows 3:c
            Swallows             | :a :swallows :c
            SwallowsAndThrows    | :a :swallows :c
            """)
    void aListenerThatCatchesAnErrorWhichItsTransactionDoesNotSurviveHasFailed(String name, String messages) {
        assertDelivered(name, messages, "a c", "swallows");
        int keys = messages.startsWith(":") ? 0 : 2;
        assertThat(outcomes(listener(name)).processed).hasSize(keys);
        assertThat(outcomes(listener(name)).missingKeys).hasSize(2 - keys);
    }

    @EntityScan(basePackageClasses = Account.class)
    @EnableJpaRepositories(basePackageClasses = AccountRepository.class)
    @EnableJdbcRepositories(basePackageClasses = AccountRepository.class)
    static class Repositories {

        Repositories(JdbcTemplate jdbc) {
            jdbc.execute("create table booking (id serial primary key, text varchar(100) not null)");
        }
    }

    static class WithAttributes extends Listener {

        @Autowired
        private JdbcTemplate jdbc;

        @OwnTopic
        @IdempotentListener
        @Transactional(isolation = Isolation.SERIALIZABLE, timeout = 17)
        void on(String payload) {
            boolean timeout = TransactionSynchronizationManager.getResourceMap().values().stream()
                    .anyMatch(resource -> resource instanceof ResourceHolderSupport holder
                            && holder.hasTimeout()
                            && holder.getTimeToLiveInSeconds() <= 17);
            happen(this.jdbc.queryForObject("show transaction_isolation", String.class)
                    + (timeout ? ",with-a-timeout" : ""));
        }
    }

    static class Commits extends Listener {

        @OwnTopic(containerFactory = "handled")
        @IdempotentListener
        @Transactional(noRollbackFor = IllegalStateException.class)
        void on(String payload) {
            happen(payload);
            throw new IllegalStateException("not a reason to roll back");
        }
    }

    static class InnerService {

        @Transactional
        void fail() {
            throw new ArithmeticException("inner");
        }
    }

    static class CatchesInner extends Listener {

        static final UnexpectedRollbackException OWN = new UnexpectedRollbackException("of an inner transaction");

        private final InnerService service;
        private final AccountRepository accounts;

        CatchesInner(InnerService service, AccountRepository accounts) {
            this.service = service;
            this.accounts = accounts;
        }

        @OwnTopic(containerFactory = "handled")
        @IdempotentListener
        void on(String payload) {
            happen(payload);
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

    static class OnJpa extends Listener {

        private final AccountRepository accounts;
        private final BookingRepository bookings;

        OnJpa(AccountRepository accounts, BookingRepository bookings) {
            this.accounts = accounts;
            this.bookings = bookings;
        }

        @OwnTopic
        @IdempotentListener
        @Transactional
        void on(String name) {
            Account account = this.accounts.findById(name).orElseGet(() -> new Account(name));
            account.credit(1);
            this.accounts.save(account);
            this.bookings.save(new Booking(null, name));
            happenAndFailOnceAt("alice", name);
        }
    }

    abstract static class Swallowing extends Listener {

        @Autowired
        private JdbcTemplate jdbc;

        @OwnTopic
        void on(String payload) {
            happen(payload);
            if (payload.equals("swallows")) {
                swallowError();
            }
        }

        void swallowError() {
            try {
                this.jdbc.update("insert into nowhere (id) values (1)");
            } catch (DataAccessException ex) {
                // All seems well.
            }
        }
    }

    @IdempotentListener
    static class Swallows extends Swallowing {}

    @IdempotentListener(inbox = "true")
    static class SwallowsWithInbox extends Swallowing {}

    @IdempotentListener
    @Transactional(noRollbackFor = IllegalStateException.class)
    static class SwallowsAndThrows extends Swallowing {

        @Override
        void swallowError() {
            super.swallowError();
            throw new IllegalStateException("no reason to roll back");
        }
    }

    /** As a {@code @TransactionalEventListener} does in that phase. */
    @IdempotentListener
    static class SwallowsBeforeCommit extends Swallowing {

        @Override
        void swallowError() {
            beforeCommit(super::swallowError);
        }
    }
}
