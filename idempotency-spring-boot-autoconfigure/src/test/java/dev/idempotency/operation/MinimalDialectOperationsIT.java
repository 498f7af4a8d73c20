package dev.idempotency.operation;

import dev.idempotency.database.Dialect;
import dev.idempotency.database.DialectResolver;
import dev.idempotency.database.MinimalDialect;
import javax.sql.DataSource;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

class MinimalDialectOperationsIT extends H2OperationsIT {

    @Override
    String jdbcUrl() {
        return "jdbc:h2:mem:minimal-operations;DB_CLOSE_DELAY=-1;LOCK_TIMEOUT=30000";
    }

    @Override
    Class<?>[] classes() {
        return new Class<?>[] {Consumers.class, OwnDialect.class};
    }

    @Configuration(proxyBeanMethods = false)
    static class OwnDialect {

        @Bean
        Dialect dialect(DataSource dataSource) {
            return new MinimalDialect(DialectResolver.resolve(dataSource));
        }
    }
}
