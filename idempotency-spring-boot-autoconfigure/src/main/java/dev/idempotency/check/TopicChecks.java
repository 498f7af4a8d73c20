package dev.idempotency.check;

import dev.idempotency.Check;
import dev.idempotency.definition.ProtectedListener;
import dev.idempotency.kafka.ContainerFacts;
import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.Config;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.clients.admin.TopicDescription;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.common.KafkaFuture;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.config.TopicConfig;
import org.jspecify.annotations.Nullable;

/** What the topics of one cluster's listeners are like. */
final class TopicChecks {

    private final Admin admin;
    private final long deadline;

    TopicChecks(Admin admin, Duration timeout) {
        this.admin = admin;
        this.deadline = System.nanoTime() + timeout.toNanos();
    }

    void check(List<ProtectedListener> listeners, Findings findings)
            throws InterruptedException, ExecutionException, TimeoutException {
        Set<String> existing = await(this.admin.listTopics().names());
        Map<String, Config> configurations = configurations(topicsOf(listeners, existing));
        for (ProtectedListener listener : listeners) {
            for (String topic : topicsOf(listener, existing)) {
                checkRetention(listener, topic, configurations.get(topic), findings);
            }
        }
        List<ProtectedListener> uncommitted =
                listeners.stream().filter(listener -> !readsCommitted(listener)).toList();
        Set<String> transactional = topicsWithTransactions(topicsOf(uncommitted, existing));
        for (ProtectedListener listener : uncommitted) {
            for (String topic : topicsOf(listener, existing)) {
                if (transactional.contains(topic)) {
                    findings.add(
                            Check.READ_UNCOMMITTED,
                            listener,
                            "The topic '%s' has transactional producers, but the consumer's isolation.level is not"
                                            .formatted(topic)
                                    + " read_committed.",
                            "Set spring.kafka.consumer.isolation-level=read_committed.");
                }
            }
        }
    }

    private static Set<String> topicsOf(List<ProtectedListener> listeners, Set<String> existing) {
        return listeners.stream()
                .flatMap(listener -> topicsOf(listener, existing).stream())
                .collect(Collectors.toSet());
    }

    private static Set<String> topicsOf(ProtectedListener listener, Set<String> existing) {
        Pattern pattern = listener.container().getContainerProperties().getTopicPattern();
        Collection<String> named = listener.consumer().topics();
        return existing.stream()
                .filter(topic -> (pattern != null) ? pattern.matcher(topic).matches() : named.contains(topic))
                .collect(Collectors.toCollection(TreeSet::new));
    }

    private Map<String, Config> configurations(Set<String> topics)
            throws InterruptedException, ExecutionException, TimeoutException {
        List<ConfigResource> resources = topics.stream()
                .map(topic -> new ConfigResource(ConfigResource.Type.TOPIC, topic))
                .toList();
        Map<String, Config> configurations = new HashMap<>();
        await(this.admin.describeConfigs(resources).all())
                .forEach((resource, config) -> configurations.put(resource.name(), config));
        return configurations;
    }

    private static void checkRetention(
            ProtectedListener listener, String topic, @Nullable Config configuration, Findings findings) {
        if (configuration == null || !listener.consumer().strategy().isForgetful()) {
            return;
        }
        String policy = value(configuration, TopicConfig.CLEANUP_POLICY_CONFIG, TopicConfig.CLEANUP_POLICY_DELETE);
        long millis = Long.parseLong(value(configuration, TopicConfig.RETENTION_MS_CONFIG, "-1"));
        boolean forever = millis < 0 || !policy.contains(TopicConfig.CLEANUP_POLICY_DELETE);
        Duration remembered = listener.consumer().retention();
        if (forever || Duration.ofMillis(millis).compareTo(remembered) > 0) {
            String kept = forever ? "for ever" : "for " + Findings.format(Duration.ofMillis(millis));
            findings.add(
                    Check.TOPIC_RETENTION,
                    listener,
                    "The topic '%s' keeps messages %s, but consumer '%s' remembers them for %s."
                            .formatted(topic, kept, listener.consumer().name(), Findings.format(remembered)),
                    forever
                            ? "Raise @IdempotentListener(retention = …) to as far back as you would ever rewind, and"
                                    + " relax this check."
                            : "Set @IdempotentListener(retention = \"%dh\"), or lower the topic's retention.ms."
                                    .formatted(Duration.ofMillis(millis)
                                            .plusHours(1)
                                            .toHours()));
        }
    }

    private static String value(Config configuration, String name, String fallback) {
        ConfigEntry entry = configuration.get(name);
        return (entry != null && entry.value() != null) ? entry.value() : fallback;
    }

    /** Topics with a producer that has ended a transaction, as far back as the broker remembers producers. */
    private Set<String> topicsWithTransactions(Set<String> topics)
            throws InterruptedException, ExecutionException, TimeoutException {
        List<TopicPartition> partitions = await(
                        this.admin.describeTopics(topics).allTopicNames())
                .values()
                .stream()
                .flatMap(TopicChecks::partitions)
                .toList();
        return await(this.admin.describeProducers(partitions).all()).entrySet().stream()
                .filter(entry -> entry.getValue().activeProducers().stream()
                        .anyMatch(producer -> producer.coordinatorEpoch().orElse(-1) >= 0))
                .map(entry -> entry.getKey().topic())
                .collect(Collectors.toSet());
    }

    private static Stream<TopicPartition> partitions(TopicDescription topic) {
        return topic.partitions().stream().map(partition -> new TopicPartition(topic.name(), partition.partition()));
    }

    private static boolean readsCommitted(ProtectedListener listener) {
        Object level = ContainerFacts.consumerSettings(listener.container()).get(ConsumerConfig.ISOLATION_LEVEL_CONFIG);
        return String.valueOf(level).toLowerCase(Locale.ROOT).equals("read_committed");
    }

    private <T> T await(KafkaFuture<T> future) throws InterruptedException, ExecutionException, TimeoutException {
        return future.get(Math.max(0, this.deadline - System.nanoTime()), TimeUnit.NANOSECONDS);
    }
}
