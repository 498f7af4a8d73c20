package dev.idempotency.autoconfigure;

import dev.idempotency.actuate.IdempotencyHealthIndicator;
import dev.idempotency.internal.database.Schema;
import dev.idempotency.internal.event.ConsumerOutages;
import dev.idempotency.internal.metrics.StoreWatch;
import dev.idempotency.retention.Cleanup;
import dev.idempotency.store.ProcessedMessageStore;
import java.util.List;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.health.autoconfigure.contributor.ConditionalOnEnabledHealthIndicator;
import org.springframework.boot.health.contributor.Health;
import org.springframework.context.annotation.Bean;

/** Auto-configuration for the health contributor {@code idempotency}. */
@AutoConfiguration(
        after = {IdempotencyAutoConfiguration.class, IdempotencyListenerAutoConfiguration.class},
        beforeName = "org.springframework.boot.health.autoconfigure.contributor.HealthContributorAutoConfiguration")
@ConditionalOnClass({Health.class, ConditionalOnEnabledHealthIndicator.class})
@ConditionalOnBean(StoreWatch.class)
@ConditionalOnEnabledHealthIndicator("idempotency")
public final class IdempotencyHealthAutoConfiguration {

    @Bean
    @ConditionalOnMissingBean(name = "idempotencyHealthIndicator")
    IdempotencyHealthIndicator idempotencyHealthIndicator(
            ProcessedMessageStore store,
            ObjectProvider<Schema> schema,
            ObjectProvider<Cleanup> cleanup,
            ObjectProvider<ConsumerOutages> outages) {
        return new IdempotencyHealthIndicator(
                store, schema.getIfAvailable(), cleanup.getIfUnique(), outages.getIfAvailable(() -> List::of));
    }
}
