package dev.idempotency.inbox;

import dev.idempotency.database.Dialect;
import dev.idempotency.database.Tables;
import java.util.Objects;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Predicate;
import javax.sql.DataSource;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.support.TransactionTemplate;

/** The database of the inbox: its table within transactions of the listeners, and within its own. */
final class InboxDatabase {

    private static final int TIMEOUT_SECONDS = 10;

    private final InboxTable inListenersTransaction;
    private final InboxTable inOwnTransaction;
    private final InboxReader reader;
    private final InboxRemoval removal;
    private final TransactionTemplate transaction;

    InboxDatabase(DataSource dataSource, Dialect dialect, Tables tables) {
        this.inListenersTransaction = new InboxTable(new JdbcTemplate(dataSource), dialect, tables);
        JdbcTemplate own = new JdbcTemplate(dataSource);
        own.setQueryTimeout(TIMEOUT_SECONDS);
        this.inOwnTransaction = new InboxTable(own, dialect, tables);
        this.reader = new InboxReader(own, dialect, tables);
        this.removal = new InboxRemoval(own, dialect, tables);
        this.transaction = new TransactionTemplate(new JdbcTransactionManager(dataSource));
        this.transaction.setPropagationBehavior(TransactionDefinition.PROPAGATION_REQUIRES_NEW);
        this.transaction.setIsolationLevel(TransactionDefinition.ISOLATION_READ_COMMITTED);
    }

    /** The table on the connection of the listener's transaction, which is bound to the thread. */
    InboxTable inListenersTransaction() {
        return this.inListenersTransaction;
    }

    void inNewTransaction(Consumer<InboxTable> work) {
        this.transaction.executeWithoutResult(status -> work.accept(this.inOwnTransaction));
    }

    <T> T callInNewTransaction(Function<InboxTable, T> work) {
        return Objects.requireNonNull(this.transaction.execute(status -> work.apply(this.inOwnTransaction)));
    }

    /** Commits the work only if it says that it is done. */
    boolean tryInNewTransaction(Predicate<InboxTable> work) {
        return Boolean.TRUE.equals(this.transaction.execute(status -> {
            boolean done = work.test(this.inOwnTransaction);
            if (!done) {
                status.setRollbackOnly();
            }
            return done;
        }));
    }

    <T> T removeInNewTransaction(Function<InboxRemoval, T> work) {
        return Objects.requireNonNull(this.transaction.execute(status -> work.apply(this.removal)));
    }

    InboxReader reader() {
        return this.reader;
    }
}
