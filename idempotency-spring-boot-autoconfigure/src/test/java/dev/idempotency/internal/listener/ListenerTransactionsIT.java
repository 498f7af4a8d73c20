package dev.idempotency.internal.listener;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.IdempotentListener;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.dao.DataAccessException;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.annotation.Isolation;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.ResourceHolderSupport;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/** Behavior of listeners' transactions that the delivery contract does not cover. */
@ListenersTest.Application(properties = "idempotency.key.on-missing=process")
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

    /** The messages have no key, so nothing is claimed. */
    @ParameterizedTest
    @ValueSource(classes = {Swallows.class, SwallowsAndThrows.class})
    void aListenerHasFailedWhenItCatchesADatabaseError(Class<? extends Listener> listener) {
        deliver(listener, ":a", ":swallows", ":c");
        assertThat(effects(listener)).containsExactly("a", "c");
        assertThat(givenUp(listener)).containsExactly("swallows");
        assertThat(outcomes(listener).missingKeys).hasSize(2);
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

    @IdempotentListener
    static class Swallows extends Listener {

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
                // Like an application that ignores the error.
            }
        }
    }

    @IdempotentListener
    @Transactional(noRollbackFor = IllegalStateException.class)
    static class SwallowsAndThrows extends Swallows {

        @Override
        void swallowError() {
            super.swallowError();
            throw new IllegalStateException("no reason to roll back");
        }
    }
}
