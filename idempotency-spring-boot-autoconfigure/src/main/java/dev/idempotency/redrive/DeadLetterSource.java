package dev.idempotency.redrive;

import dev.idempotency.kafka.BrokerConnection;
import dev.idempotency.observe.ConsumerDescription;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * Where the dead letters of a consumer are, and where they belong.
 *
 * @param description the consumer
 * @param groups its consumer groups
 * @param listener where it reads from
 * @param topics its own topics, without those of its retries
 * @param deadLetterTopics topics that may exist, and the brokers that they are on
 */
record DeadLetterSource(
        ConsumerDescription description,
        Set<String> groups,
        BrokerConnection listener,
        Set<String> topics,
        SortedMap<String, BrokerConnection> deadLetterTopics) {

    DeadLetterSource {
        groups = Set.copyOf(groups);
        topics = Set.copyOf(topics);
        deadLetterTopics = new TreeMap<>(Map.copyOf(deadLetterTopics));
    }

    String consumer() {
        return this.description.name();
    }

    /** The brokers that one of its dead-letter topics is on. */
    BrokerConnection brokersOf(String deadLetterTopic) {
        return Objects.requireNonNull(this.deadLetterTopics.get(deadLetterTopic));
    }

    /** The group whose offsets say what has been sent back. It begins as the listener's, as grants often do. */
    String redriveGroup() {
        return this.groups.stream().sorted().findFirst().orElse("idempotency") + ".redrive." + consumer();
    }
}
