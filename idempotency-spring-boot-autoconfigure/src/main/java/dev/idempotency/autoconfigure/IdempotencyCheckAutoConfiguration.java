package dev.idempotency.autoconfigure;

import dev.idempotency.check.ListenerChecks;
import java.util.List;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.jdbc.metadata.CompositeDataSourcePoolMetadataProvider;
import org.springframework.boot.jdbc.metadata.DataSourcePoolMetadata;
import org.springframework.boot.jdbc.metadata.DataSourcePoolMetadataProvider;
import org.springframework.context.annotation.Bean;
import org.springframework.core.env.Environment;

/**
 * Auto-configuration for what is verified before the first message.
 *
 * <p>It does not ask for a store: that there is none is one of the things to be found.
 */
@AutoConfiguration(after = IdempotencyAutoConfiguration.class)
@ConditionalOnProperty(name = "idempotency.enabled", matchIfMissing = true)
@EnableConfigurationProperties(IdempotencyProperties.class)
public final class IdempotencyCheckAutoConfiguration {

    @Bean
    ListenerChecks idempotencyListenerChecks(
            ConfigurableListableBeanFactory beanFactory,
            IdempotencyProperties properties,
            ObjectProvider<DataSource> dataSource,
            ObjectProvider<DataSourcePoolMetadataProvider> pools) {
        IdempotencyProperties.Checks checks = properties.checks();
        return new ListenerChecks(
                beanFactory,
                checks.policy(),
                checks.brokerTimeout(),
                properties.deadLetters().suffixIfEnabled(),
                () -> connections(dataSource.getIfUnique(), pools.stream().toList()));
    }

    private static @Nullable Integer connections(
            @Nullable DataSource dataSource, List<DataSourcePoolMetadataProvider> pools) {
        DataSourcePoolMetadata pool = (dataSource != null)
                ? new CompositeDataSourcePoolMetadataProvider(pools).getDataSourcePoolMetadata(dataSource)
                : null;
        return (pool != null) ? pool.getMax() : null;
    }

    @Bean
    UnknownPropertyReporter idempotencyUnknownPropertyReporter(Environment environment) {
        return new UnknownPropertyReporter(environment);
    }
}
