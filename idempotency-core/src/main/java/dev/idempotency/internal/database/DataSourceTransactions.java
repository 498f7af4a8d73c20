package dev.idempotency.internal.database;

import java.lang.reflect.Method;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.datasource.ConnectionHolder;
import org.springframework.jdbc.datasource.TransactionAwareDataSourceProxy;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.support.ResourceTransactionManager;
import org.springframework.transaction.support.TransactionCallback;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.transaction.support.TransactionTemplate;
import org.springframework.util.ReflectionUtils;

/** The transactions of a data source: the one that is open on the thread, and separate ones. */
@SuppressWarnings("serial")
public final class DataSourceTransactions extends JdbcTransactionManager {

    public DataSourceTransactions(DataSource dataSource) {
        super(dataSource);
    }

    /**
     * Whether the connection that is bound to the thread is in a transaction of this data source. While a transaction of
     * anything else is open, Spring binds whatever connection is used, and returns it at the end.
     */
    public boolean isOpen() {
        ConnectionHolder holder = bound();
        return holder != null
                && TransactionSynchronizationManager.isActualTransactionActive()
                && (isOfAnotherKind(holder) || isExistingTransaction(doGetTransaction()));
    }

    private @Nullable ConnectionHolder bound() {
        return (ConnectionHolder) TransactionSynchronizationManager.getResource(obtainDataSource());
    }

    /** Whether a transaction manager bound it that does not begin transactions by JDBC, such as JPA's. */
    private static boolean isOfAnotherKind(ConnectionHolder holder) {
        return !holder.isSynchronizedWithTransaction();
    }

    /** Returns a template for new transactions, each on another connection. */
    TransactionTemplate separate() {
        TransactionTemplate template = new TransactionTemplate(this) {

            /** A transaction of JPA is not suspended by this manager, which would commit it: it is put out of sight. */
            @Override
            public <T extends @Nullable Object> T execute(TransactionCallback<T> action) {
                ConnectionHolder holder = bound();
                if (holder == null || !isOfAnotherKind(holder)) {
                    return super.execute(action);
                }
                TransactionSynchronizationManager.unbindResource(obtainDataSource());
                try {
                    return super.execute(action);
                } finally {
                    TransactionSynchronizationManager.bindResource(obtainDataSource(), holder);
                }
            }
        };
        template.setPropagationBehavior(TransactionDefinition.PROPAGATION_REQUIRES_NEW);
        return template;
    }

    /** Returns the data source under which a transaction manager binds its connections, or {@code null} if it has none. */
    public static @Nullable DataSource dataSourceOf(PlatformTransactionManager manager) {
        Object resource =
                (manager instanceof ResourceTransactionManager resources) ? resources.getResourceFactory() : null;
        if (!(resource instanceof DataSource)) {
            // JpaTransactionManager and HibernateTransactionManager, without depending on either.
            Method getter = ReflectionUtils.findMethod(manager.getClass(), "getDataSource");
            resource = (getter != null) ? ReflectionUtils.invokeMethod(getter, manager) : null;
        }
        return (resource instanceof DataSource dataSource) ? unwrap(dataSource) : null;
    }

    /** Transaction managers do the same, so that both agree on the key under which a transaction's connection is bound. */
    static DataSource unwrap(DataSource dataSource) {
        return (dataSource instanceof TransactionAwareDataSourceProxy proxy && proxy.getTargetDataSource() != null)
                ? proxy.getTargetDataSource()
                : dataSource;
    }
}
