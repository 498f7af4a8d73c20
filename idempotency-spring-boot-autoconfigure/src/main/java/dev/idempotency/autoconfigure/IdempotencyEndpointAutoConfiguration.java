package dev.idempotency.autoconfigure;

import dev.idempotency.actuate.ConsumerReports;
import dev.idempotency.actuate.IdempotencyDeadLettersEndpoint;
import dev.idempotency.actuate.IdempotencyEndpoint;
import dev.idempotency.actuate.IdempotencyInboxEndpoint;
import dev.idempotency.actuate.IdempotencyReconciliationEndpoint;
import dev.idempotency.inbox.Inbox;
import dev.idempotency.internal.event.ConsumerOutages;
import dev.idempotency.internal.event.ConsumerRegistry;
import dev.idempotency.internal.metrics.ConsumerCounts;
import dev.idempotency.internal.metrics.StoreWatch;
import dev.idempotency.internal.result.Steps;
import dev.idempotency.internal.store.JdbcPositionStore;
import dev.idempotency.internal.store.JdbcVersionStore;
import dev.idempotency.reconciliation.Reconciliation;
import dev.idempotency.redrive.DeadLetters;
import dev.idempotency.retention.Cleanup;
import dev.idempotency.store.ProcessedMessageStore;
import java.util.List;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.actuate.autoconfigure.endpoint.condition.ConditionalOnAvailableEndpoint;
import org.springframework.boot.actuate.endpoint.Show;
import org.springframework.boot.actuate.endpoint.annotation.Endpoint;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.env.Environment;

/** Auto-configuration for the Actuator endpoints, {@code idempotency} and those that begin so. */
@AutoConfiguration(
        after = {
            IdempotencyAutoConfiguration.class,
            IdempotencyListenerAutoConfiguration.class,
            IdempotencyOperatorsAutoConfiguration.class
        })
@ConditionalOnClass({Endpoint.class, ConditionalOnAvailableEndpoint.class})
@ConditionalOnBean(StoreWatch.class)
public final class IdempotencyEndpointAutoConfiguration {

    @Bean
    @ConditionalOnAvailableEndpoint
    @ConditionalOnMissingBean
    IdempotencyEndpoint idempotencyEndpoint(
            ObjectProvider<ConsumerRegistry> consumers,
            ObjectProvider<ConsumerCounts> counts,
            StoreWatch storeWatch,
            ObjectProvider<ConsumerOutages> outages,
            ObjectProvider<Cleanup> cleanup,
            ProcessedMessageStore store,
            ObjectProvider<JdbcPositionStore> positions,
            ObjectProvider<JdbcVersionStore> versions,
            ObjectProvider<Steps> steps) {
        ConsumerReports reports = new ConsumerReports(
                ConsumerRegistry.of(consumers::stream),
                counts.getIfUnique(() -> ConsumerCounts.NONE),
                storeWatch,
                outages.getIfAvailable(() -> List::of),
                cleanup.getIfUnique(),
                positions.getIfAvailable());
        return new IdempotencyEndpoint(reports, store, versions.getIfAvailable(), steps.getIfAvailable());
    }

    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(DeadLetters.class)
    @ConditionalOnBean(DeadLetters.class)
    static final class OperatorsConfiguration {

        @Bean
        @ConditionalOnAvailableEndpoint
        @ConditionalOnBean(Inbox.class)
        @ConditionalOnMissingBean
        IdempotencyInboxEndpoint idempotencyInboxEndpoint(
                Inbox inbox, ObjectProvider<ConsumerRegistry> consumers, Environment environment) {
            return new IdempotencyInboxEndpoint(
                    inbox, ConsumerRegistry.of(consumers::stream), showValues(environment, "idempotencyinbox"));
        }

        @Bean
        @ConditionalOnAvailableEndpoint
        @ConditionalOnMissingBean
        IdempotencyDeadLettersEndpoint idempotencyDeadLettersEndpoint(
                DeadLetters deadLetters, Environment environment) {
            return new IdempotencyDeadLettersEndpoint(deadLetters, showValues(environment, "idempotencydeadletters"));
        }

        private static Show showValues(Environment environment, String endpoint) {
            return Binder.get(environment)
                    .bind("management.endpoint." + endpoint + ".show-values", Show.class)
                    .orElse(Show.NEVER);
        }

        @Bean
        @ConditionalOnAvailableEndpoint
        @ConditionalOnMissingBean
        IdempotencyReconciliationEndpoint idempotencyReconciliationEndpoint(Reconciliation reconciliation) {
            return new IdempotencyReconciliationEndpoint(reconciliation);
        }
    }
}
