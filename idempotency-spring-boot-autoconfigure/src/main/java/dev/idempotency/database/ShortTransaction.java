package dev.idempotency.database;

import java.util.function.Supplier;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.transaction.support.TransactionTemplate;

/**
 * The current transaction of a data source or, where there is none, a short one of its own.
 *
 * <p>Also what only reads is done in one: connections may not commit by themselves, and then a pool may take back, and
 * hand out, a connection on which the transaction of a look-up is still open.
 */
public final class ShortTransaction {

    private final DataSource dataSource;
    private final TransactionTemplate transaction;

    public ShortTransaction(DataSource dataSource) {
        this.dataSource = dataSource;
        this.transaction = new TransactionTemplate(new JdbcTransactionManager(dataSource));
    }

    /** Does the work, and returns what it returns. */
    public <T extends @Nullable Object> T call(Supplier<T> work) {
        return isWithinOne() ? work.get() : this.transaction.execute(status -> work.get());
    }

    /** Whether there is a transaction already, whose own time holds for what is done in it. */
    public boolean isWithinOne() {
        return TransactionSynchronizationManager.isActualTransactionActive()
                && TransactionSynchronizationManager.hasResource(this.dataSource);
    }
}
