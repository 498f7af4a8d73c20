package dev.idempotency.check;

import dev.idempotency.Check;
import dev.idempotency.definition.ProtectedListener;
import dev.idempotency.kafka.BrokerConnection;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.Config;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.common.KafkaFuture;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.config.TopicConfig;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Asks the brokers about the topics of the listeners, on a separate thread and for a limited time. Its findings are only
 * logged; a broker that does not answer, or refuses to, is left alone.
 */
final class BrokerChecks {

    private static final Logger logger = LoggerFactory.getLogger(BrokerChecks.class);

    private final Duration timeout;
    private final Supplier<Findings> findings;
    private @Nullable Thread thread;

    BrokerChecks(Duration timeout, Supplier<Findings> findings) {
        this.timeout = timeout;
        this.findings = findings;
    }

    void start(List<ProtectedListener> listeners) {
        if (!listeners.isEmpty() && !this.timeout.isZero()) {
            this.thread = new Thread(() -> run(listeners), "idempotency-broker-checks");
            this.thread.setDaemon(true);
            this.thread.start();
        }
    }

    void stop() {
        if (this.thread != null) {
            this.thread.interrupt();
        }
    }

    private void run(List<ProtectedListener> listeners) {
        listeners.stream()
                .collect(Collectors.groupingBy(listener -> BrokerConnection.of(listener.container())))
                .forEach(this::check);
    }

    private void check(BrokerConnection connection, List<ProtectedListener> listeners) {
        Admin admin = null;
        try {
            admin = connection.createAdmin("broker-checks", this.timeout);
            Findings found = this.findings.get();
            check(admin, listeners, found);
            found.report();
        } catch (InterruptedException ex) {
            Thread.currentThread().interrupt();
        } catch (Exception ex) {
            logger.debug("The topics could not be checked", ex);
        } finally {
            if (admin != null) {
                admin.close(Duration.ZERO);
            }
        }
    }

    private void check(Admin admin, List<ProtectedListener> listeners, Findings findings)
            throws InterruptedException, ExecutionException, TimeoutException {
        Set<String> existing = await(admin.listTopics().names());
        for (ProtectedListener listener : listeners) {
            List<ConfigResource> topics = topicsOf(listener, existing).stream()
                    .map(topic -> new ConfigResource(ConfigResource.Type.TOPIC, topic))
                    .toList();
            await(admin.describeConfigs(topics).all())
                    .forEach((topic, configuration) -> checkRetention(listener, topic.name(), configuration, findings));
        }
    }

    private static Set<String> topicsOf(ProtectedListener listener, Set<String> existing) {
        Pattern pattern = listener.container().getContainerProperties().getTopicPattern();
        Collection<String> named = listener.consumer().topics();
        return existing.stream()
                .filter(topic -> (pattern != null) ? pattern.matcher(topic).matches() : named.contains(topic))
                .collect(Collectors.toCollection(TreeSet::new));
    }

    private static void checkRetention(
            ProtectedListener listener, String topic, Config configuration, Findings findings) {
        if (!listener.consumer().strategy().isForgetful()) {
            return;
        }
        String policy = value(configuration, TopicConfig.CLEANUP_POLICY_CONFIG, TopicConfig.CLEANUP_POLICY_DELETE);
        Duration kept = Duration.ofMillis(Long.parseLong(value(configuration, TopicConfig.RETENTION_MS_CONFIG, "-1")));
        boolean forever = kept.isNegative() || !policy.contains(TopicConfig.CLEANUP_POLICY_DELETE);
        Duration remembered = listener.consumer().retention();
        if (forever || kept.compareTo(remembered) > 0) {
            findings.add(
                    Check.TOPIC_RETENTION,
                    listener,
                    "The topic '%s' keeps messages %s, but consumer '%s' remembers them for %s."
                            .formatted(
                                    topic,
                                    forever ? "for ever" : "for " + Findings.format(kept),
                                    listener.consumer().name(),
                                    Findings.format(remembered)),
                    forever
                            ? "Raise @IdempotentListener(retention = …) to as far back as you would ever rewind, and"
                                    + " relax this check."
                            : "Set @IdempotentListener(retention = \"%dh\"), or lower the topic's retention.ms."
                                    .formatted(kept.plusHours(1).toHours()));
        }
    }

    private static String value(Config configuration, String name, String fallback) {
        ConfigEntry entry = configuration.get(name);
        return (entry != null && entry.value() != null) ? entry.value() : fallback;
    }

    private <T> T await(KafkaFuture<T> future) throws InterruptedException, ExecutionException, TimeoutException {
        return future.get(this.timeout.toNanos(), TimeUnit.NANOSECONDS);
    }
}
