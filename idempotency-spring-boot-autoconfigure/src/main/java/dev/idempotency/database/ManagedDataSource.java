package dev.idempotency.database;

import java.lang.reflect.Method;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.support.ResourceTransactionManager;
import org.springframework.util.ReflectionUtils;

/** The data source that a transaction manager manages, under which it binds the connections of its transactions. */
public final class ManagedDataSource {

    private ManagedDataSource() {}

    /** Returns the data source of a transaction manager, or {@code null} if it has none. */
    public static @Nullable DataSource of(PlatformTransactionManager manager) {
        Object resource =
                (manager instanceof ResourceTransactionManager resources) ? resources.getResourceFactory() : null;
        if (!(resource instanceof DataSource)) {
            // JpaTransactionManager and HibernateTransactionManager, without depending on either.
            Method getter = ReflectionUtils.findMethod(manager.getClass(), "getDataSource");
            resource = (getter != null) ? ReflectionUtils.invokeMethod(getter, manager) : null;
        }
        return (resource instanceof DataSource dataSource) ? IdempotencyDatabase.unwrap(dataSource) : null;
    }
}
