package dev.idempotency.autoconfigure;

import dev.idempotency.definition.ListenerDefinitionRegistry;
import dev.idempotency.metrics.StoreWatch;
import dev.idempotency.retention.LastCleanup;
import dev.idempotency.store.ProcessedMessageStore;
import dev.idempotency.store.StoreStatistics;
import java.util.List;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;

/** Auto-configuration for what meters, endpoint and health have in common. */
@AutoConfiguration(after = IdempotencyAutoConfiguration.class)
@ConditionalOnProperty(name = "idempotency.enabled", matchIfMissing = true)
@ConditionalOnBean(ListenerDefinitionRegistry.class)
@EnableConfigurationProperties(ObserveProperties.class)
public final class IdempotencyObserveAutoConfiguration {

    @Bean
    StoreWatch idempotencyStoreWatch(
            ProcessedMessageStore store,
            ObjectProvider<ListenerDefinitionRegistry> definitions,
            ObserveProperties properties) {
        return new StoreWatch(() -> statistics(store, definitions.getObject()), properties.storeInterval());
    }

    private static StoreStatistics statistics(ProcessedMessageStore store, ListenerDefinitionRegistry definitions) {
        List<String> consumers = definitions.listeners().stream()
                .map(listener -> listener.consumer().name())
                .distinct()
                .toList();
        return store.statistics(consumers);
    }

    @Bean
    LastCleanup idempotencyLastCleanup() {
        return new LastCleanup();
    }
}
