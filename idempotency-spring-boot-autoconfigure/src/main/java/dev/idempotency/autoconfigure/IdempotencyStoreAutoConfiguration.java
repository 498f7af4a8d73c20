package dev.idempotency.autoconfigure;

import dev.idempotency.store.Dialect;
import dev.idempotency.store.Dialects;
import dev.idempotency.store.JdbcProcessedMessageStore;
import dev.idempotency.store.ProcessedMessageStore;
import dev.idempotency.store.Schema;
import dev.idempotency.store.Tables;
import javax.sql.DataSource;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnSingleCandidate;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.context.annotation.Bean;

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
        return Dialects.of(dataSource);
    }

    @Bean
    Schema idempotencySchema(DataSource dataSource, Dialect dialect, IdempotencyProperties properties) {
        return new Schema(
                dataSource,
                dialect,
                new Tables(properties.schema().name()),
                properties.schema().mode());
    }

    @Bean
    JdbcProcessedMessageStore processedMessageStore(
            DataSource dataSource, Dialect dialect, IdempotencyProperties properties) {
        return new JdbcProcessedMessageStore(
                dataSource,
                dialect,
                new Tables(properties.schema().name()),
                properties.claim().timeout());
    }
}
