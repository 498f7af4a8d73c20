package dev.idempotency.internal.check;

import dev.idempotency.StartupCheck;
import dev.idempotency.internal.definition.ProtectedListener;
import dev.idempotency.internal.failure.ErrorHandlerInstaller;
import dev.idempotency.internal.kafka.BrokerConnection;
import dev.idempotency.internal.kafka.ListenerContainers;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.apache.kafka.clients.MetadataRecoveryStrategy;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.Config;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.common.KafkaFuture;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.config.TopicConfig;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.kafka.core.ProducerFactory;
import org.springframework.kafka.listener.AbstractMessageListenerContainer;

/** Asks the brokers about topics, on a separate thread and for a limited time. Findings are only logged. */
record BrokerChecks(
        Duration timeout,
        Supplier<Findings> findings,
        @Nullable String deadLetterSuffix,
        Supplier<@Nullable ProducerFactory<?, ?>> producers) {

    private static final Logger logger = LoggerFactory.getLogger(BrokerChecks.class);

    /** Starts a thread, which may be interrupted. */
    Thread start(List<ProtectedListener> listeners) {
        Thread thread = new Thread(() -> run(listeners), "idempotency-broker-checks");
        thread.setDaemon(true);
        thread.start();
        return thread;
    }

    private void run(List<ProtectedListener> listeners) {
        Map<BrokerConnection, List<ProtectedListener>> readers = new HashMap<>(listeners.stream()
                .collect(Collectors.groupingBy(listener -> BrokerConnection.of(listener.container()))));
        ProducerFactory<?, ?> factory = this.producers.get();
        BrokerConnection producer = (factory != null) ? BrokerConnection.of(factory) : null;
        if (producer != null) {
            readers.putIfAbsent(producer, List.of());
        }
        readers.forEach(
                (connection, own) -> check(connection, own, connection.equals(producer) ? listeners : List.of()));
    }

    private void check(
            BrokerConnection connection, List<ProtectedListener> readers, List<ProtectedListener> deadLettered) {
        Findings found = this.findings.get();
        Admin admin = null;
        try {
            admin = connection.createAdmin("broker-checks", this.timeout, MetadataRecoveryStrategy.NONE);
            Set<String> existing = await(admin.listTopics().names());
            for (ProtectedListener listener : readers) {
                checkRetention(admin, listener, existing, found);
            }
            checkDeadLetters(admin, deadLettered, existing, found);
        } catch (InterruptedException ex) {
            Thread.currentThread().interrupt();
        } catch (Exception ex) {
            logger.debug("The topics could not be checked", ex);
        } finally {
            if (admin != null) {
                admin.close(Duration.ZERO);
            }
            found.report();
        }
    }

    private void checkRetention(Admin admin, ProtectedListener listener, Set<String> existing, Findings findings)
            throws Exception {
        List<ConfigResource> topics = existing.stream()
                .filter(topic -> reads(listener.container(), topic))
                .sorted()
                .map(topic -> new ConfigResource(ConfigResource.Type.TOPIC, topic))
                .toList();
        if (listener.consumer().strategy().isForgetful()) {
            await(admin.describeConfigs(topics).all())
                    .forEach((topic, configuration) -> checkRetention(listener, topic.name(), configuration, findings));
        }
    }

    private static boolean reads(AbstractMessageListenerContainer<?, ?> reader, String topic) {
        Pattern pattern = reader.getContainerProperties().getTopicPattern();
        return (pattern != null)
                ? pattern.matcher(topic).matches()
                : ListenerContainers.topicsOf(reader).contains(topic);
    }

    private static void checkRetention(
            ProtectedListener listener, String topic, Config configuration, Findings findings) {
        String policy = value(configuration, TopicConfig.CLEANUP_POLICY_CONFIG, TopicConfig.CLEANUP_POLICY_DELETE);
        Duration kept = Duration.ofMillis(Long.parseLong(value(configuration, TopicConfig.RETENTION_MS_CONFIG, "-1")));
        boolean forever = kept.isNegative() || !policy.contains(TopicConfig.CLEANUP_POLICY_DELETE);
        Duration remembered = listener.consumer().retention();
        if (forever || kept.compareTo(remembered) > 0) {
            findings.add(
                    StartupCheck.TOPIC_RETENTION,
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

    /** Says nothing where the brokers create topics, or do not say whether they do. */
    private void checkDeadLetters(
            Admin admin, List<ProtectedListener> listeners, Set<String> existing, Findings findings) throws Exception {
        Boolean created = null;
        for (ProtectedListener listener : listeners) {
            for (String topic : deadLetterTopics(listener)) {
                if (existing.contains(topic)) {
                    continue;
                }
                created = (created != null) ? created : createsTopics(admin);
                if (!created) {
                    findings.add(
                            StartupCheck.MISSING_DEAD_LETTER_TOPIC,
                            listener,
                            "Its dead letters go to '%s', which does not exist, and the brokers create no topics."
                                    .formatted(topic),
                            ("Run kafka-topics --bootstrap-server … --create --topic %s, or define a bean: @Bean NewTopic"
                                            + " deadLetters() { return TopicBuilder.name(\"%s\").build(); }.")
                                    .formatted(topic, topic));
                }
            }
        }
    }

    /** Topics that the provided error handler publishes to. For a pattern they are not known. */
    private List<String> deadLetterTopics(ProtectedListener listener) {
        boolean published = this.deadLetterSuffix != null
                && !listener.isForRetries()
                && listener.container().getContainerProperties().getTopicPattern() == null
                && ErrorHandlerInstaller.isProvided(listener.container());
        return published
                ? listener.consumer().topics().stream()
                        .map(topic -> topic + this.deadLetterSuffix)
                        .toList()
                : List.of();
    }

    private boolean createsTopics(Admin admin) throws Exception {
        Node node = await(admin.describeCluster().nodes()).iterator().next();
        ConfigResource broker = new ConfigResource(ConfigResource.Type.BROKER, node.idString());
        Config configuration =
                await(admin.describeConfigs(List.of(broker)).all()).get(broker);
        return Boolean.parseBoolean(value(configuration, "auto.create.topics.enable", "true"));
    }

    private static String value(Config configuration, String name, String fallback) {
        ConfigEntry entry = configuration.get(name);
        return (entry != null && entry.value() != null) ? entry.value() : fallback;
    }

    private <T> T await(KafkaFuture<T> future) throws Exception {
        return future.get(this.timeout.toNanos(), TimeUnit.NANOSECONDS);
    }
}
