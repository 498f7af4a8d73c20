package dev.idempotency.internal.kafka;

import java.time.Duration;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import org.apache.kafka.clients.CommonClientConfigs;
import org.apache.kafka.clients.MetadataRecoveryStrategy;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AdminClientConfig;
import org.apache.kafka.common.config.SecurityConfig;
import org.springframework.boot.ssl.SslBundle;
import org.springframework.kafka.core.ProducerFactory;
import org.springframework.kafka.listener.AbstractMessageListenerContainer;
import org.springframework.util.StringUtils;

/** How clients get to their brokers: the settings that concern the connection. */
public record BrokerConnection(Map<String, Object> settings) {

    /** Spring Boot's bundles are objects among the settings. */
    private static final Set<String> NAMES = Set.of(
            CommonClientConfigs.BOOTSTRAP_SERVERS_CONFIG,
            CommonClientConfigs.SECURITY_PROTOCOL_CONFIG,
            CommonClientConfigs.CLIENT_DNS_LOOKUP_CONFIG,
            SecurityConfig.SECURITY_PROVIDERS_CONFIG,
            SslBundle.class.getName());

    private static final Set<String> PREFIXES = Set.of("ssl.", "sasl.", "config.providers");

    public BrokerConnection {
        settings = Map.copyOf(settings);
    }

    public static BrokerConnection of(ProducerFactory<?, ?> producers) {
        return ofClient(producers.getConfigurationProperties());
    }

    public static BrokerConnection of(AbstractMessageListenerContainer<?, ?> container) {
        return ofClient(ListenerContainers.consumerSettings(container));
    }

    private static BrokerConnection ofClient(Map<String, Object> configuration) {
        Map<String, Object> settings = new HashMap<>();
        configuration.forEach((name, value) -> {
            if (value != null && belongs(name)) {
                settings.put(name, value);
            }
        });
        return new BrokerConnection(settings);
    }

    private static boolean belongs(String name) {
        return NAMES.contains(name) || PREFIXES.stream().anyMatch(name::startsWith);
    }

    /**
     * Creates a client that is known to the brokers by its purpose, and waits for their answers for a limited time. While no
     * broker can be reached, {@code REBOOTSTRAP} logs hundreds of lines per second; without it, one that lives long could lose
     * all of them.
     */
    public Admin createAdmin(String purpose, Duration timeout, MetadataRecoveryStrategy recovery) {
        Map<String, Object> configuration = new HashMap<>(this.settings);
        int millis = (int) Math.min(timeout.toMillis(), Integer.MAX_VALUE);
        configuration.put(AdminClientConfig.CLIENT_ID_CONFIG, "idempotency-" + purpose);
        configuration.put(AdminClientConfig.REQUEST_TIMEOUT_MS_CONFIG, millis);
        configuration.put(AdminClientConfig.DEFAULT_API_TIMEOUT_MS_CONFIG, millis);
        // The consumers themselves report a broker that is away.
        configuration.put(AdminClientConfig.RECONNECT_BACKOFF_MAX_MS_CONFIG, 5_000);
        configuration.put(AdminClientConfig.METADATA_RECOVERY_STRATEGY_CONFIG, recovery.name);
        configuration.put(AdminClientConfig.METRIC_REPORTER_CLASSES_CONFIG, "");
        configuration.put(AdminClientConfig.ENABLE_METRICS_PUSH_CONFIG, false);
        return Admin.create(configuration);
    }

    /** Whether it names servers, none of which the other one names. */
    public boolean leadsElsewhereThan(BrokerConnection other) {
        return !servers().isEmpty() && !other.servers().isEmpty() && Collections.disjoint(servers(), other.servers());
    }

    /** Returns the settings of a client with its connection replaced by this one. */
    public Map<String, Object> in(Map<String, Object> client) {
        Map<String, Object> configuration = new HashMap<>(client);
        configuration.keySet().removeIf(BrokerConnection::belongs);
        configuration.putAll(this.settings);
        return configuration;
    }

    public Set<String> servers() {
        Object servers = this.settings.get(CommonClientConfigs.BOOTSTRAP_SERVERS_CONFIG);
        String names = (servers instanceof Collection<?> several)
                ? StringUtils.collectionToCommaDelimitedString(several)
                : Objects.toString(servers, "");
        return new TreeSet<>(List.of(StringUtils.tokenizeToStringArray(names, ",")));
    }
}
