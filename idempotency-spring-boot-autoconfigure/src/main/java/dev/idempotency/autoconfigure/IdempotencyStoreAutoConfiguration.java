package dev.idempotency.autoconfigure;

import dev.idempotency.internal.database.Dialect;
import dev.idempotency.internal.database.DialectResolver;
import dev.idempotency.internal.database.IdempotencyDatabase;
import dev.idempotency.internal.database.Schema;
import dev.idempotency.internal.store.JdbcPositionStore;
import dev.idempotency.internal.store.JdbcProcessedMessageStore;
import dev.idempotency.internal.store.JdbcVersionStore;
import dev.idempotency.store.ProcessedMessageStore;
import javax.sql.DataSource;
import org.flywaydb.core.Flyway;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnSingleCandidate;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** Auto-configuration for the table of processed messages in the application's database. */
@AutoConfiguration(after = DataSourceAutoConfiguration.class)
@ConditionalOnProperty(name = "idempotency.enabled", matchIfMissing = true)
@ConditionalOnSingleCandidate(DataSource.class)
@ConditionalOnMissingBean(ProcessedMessageStore.class)
@EnableConfigurationProperties(IdempotencyProperties.class)
public final class IdempotencyStoreAutoConfiguration {

    @Bean
    @ConditionalOnMissingBean
    Dialect idempotencyDialect(DataSource dataSource) {
        return DialectResolver.resolve(dataSource);
    }

    @Bean
    IdempotencyDatabase idempotencyDatabase(DataSource dataSource, Dialect dialect, IdempotencyProperties properties) {
        return new IdempotencyDatabase(dataSource, dialect, properties.schema().name(), properties.retentionMode());
    }

    @Bean
    Schema idempotencySchema(
            IdempotencyDatabase database, IdempotencyProperties properties, ObjectProvider<ApplicationFlyway> flyway) {
        Schema schema = new Schema(database, properties.schema().mode(), () -> {
            ApplicationFlyway applications = flyway.getIfAvailable();
            return (applications != null) ? applications.dataSource() : null;
        });
        return schema.ringWidth(properties.ringWidth(), properties.ring().width() != null);
    }

    @Bean
    JdbcProcessedMessageStore processedMessageStore(IdempotencyDatabase database, IdempotencyProperties properties) {
        return new JdbcProcessedMessageStore(database, properties.claim().timeout());
    }

    @Bean
    JdbcPositionStore idempotencyPositionStore(IdempotencyDatabase database, IdempotencyProperties properties) {
        return new JdbcPositionStore(database, properties.claim().timeout());
    }

    @Bean
    JdbcVersionStore idempotencyVersionStore(IdempotencyDatabase database, IdempotencyProperties properties) {
        return new JdbcVersionStore(database, properties.claim().timeout());
    }

    /** The application's Flyway, if it has one; it may connect as a user who may do more than the application's. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(Flyway.class)
    record ApplicationFlyway(ObjectProvider<Flyway> flyway) {

        @Nullable
        DataSource dataSource() {
            Flyway only = this.flyway.getIfUnique();
            return (only != null) ? only.getConfiguration().getDataSource() : null;
        }
    }
}
