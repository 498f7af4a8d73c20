package dev.idempotency.autoconfigure;

import dev.idempotency.internal.database.Schema;
import java.util.Set;
import org.springframework.boot.sql.init.dependency.AbstractBeansOfTypeDatabaseInitializerDetector;

/** Has the library's tables made after the application's own, whatever makes those. */
final class SchemaInitializerDetector extends AbstractBeansOfTypeDatabaseInitializerDetector {

    @Override
    protected Set<Class<?>> getDatabaseInitializerBeanTypes() {
        return Set.of(Schema.class);
    }

    @Override
    public int getOrder() {
        return LOWEST_PRECEDENCE;
    }
}
