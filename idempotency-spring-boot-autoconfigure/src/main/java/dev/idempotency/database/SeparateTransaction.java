package dev.idempotency.database;

import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.datasource.ConnectionHolder;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.support.TransactionCallback;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.transaction.support.TransactionTemplate;

/**
 * Transactions of their own, on connections of their own.
 *
 * <p>The transaction manager would suspend no transaction of JPA, which it does not know of, but would take its connection
 * for one that is free, and commit what has been done on it. So that connection is put out of its sight.
 */
final class SeparateTransaction extends TransactionTemplate {

    private static final long serialVersionUID = 1L;

    private final transient DataSource dataSource;

    SeparateTransaction(JdbcTransactionManager manager, DataSource dataSource) {
        super(manager);
        this.dataSource = dataSource;
        setPropagationBehavior(TransactionDefinition.PROPAGATION_REQUIRES_NEW);
    }

    @Override
    public <T extends @Nullable Object> T execute(TransactionCallback<T> action) {
        if (!(TransactionSynchronizationManager.getResource(this.dataSource) instanceof ConnectionHolder holder)
                || !BoundTransaction.isOfAnotherKind(holder)) {
            return super.execute(action);
        }
        TransactionSynchronizationManager.unbindResource(this.dataSource);
        try {
            return super.execute(action);
        } finally {
            TransactionSynchronizationManager.bindResource(this.dataSource, holder);
        }
    }
}
