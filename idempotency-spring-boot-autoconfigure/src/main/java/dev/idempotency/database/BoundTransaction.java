package dev.idempotency.database;

import javax.sql.DataSource;
import org.springframework.jdbc.datasource.ConnectionHolder;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * Checks whether the connection that is bound to the thread for a data source is in a transaction of that data source.
 *
 * <p>That one is bound does not say so: while a transaction of anything else is open, Spring binds whatever connection is
 * used, to be given back at the end of it.
 */
public final class BoundTransaction {

    private final View view;

    public BoundTransaction(DataSource dataSource) {
        this.view = new View(dataSource);
    }

    public boolean isOpen() {
        return this.view.isOpen();
    }

    private static final class View extends JdbcTransactionManager {

        private static final long serialVersionUID = 1L;

        View(DataSource dataSource) {
            super(dataSource);
        }

        boolean isOpen() {
            if (!TransactionSynchronizationManager.isActualTransactionActive()
                    || !(TransactionSynchronizationManager.getResource(obtainDataSource())
                            instanceof ConnectionHolder holder)) {
                return false;
            }
            return isOfAnotherKind(holder) || isExistingTransaction(doGetTransaction());
        }
    }

    /**
     * Whether a transaction manager bound the connection that does not begin transactions by JDBC, such as those of JPA and
     * Hibernate: they expose their connection to JDBC code.
     */
    static boolean isOfAnotherKind(ConnectionHolder holder) {
        return !holder.isSynchronizedWithTransaction();
    }
}
