package dev.idempotency.test;

import dev.idempotency.RecordCoordinates;
import dev.idempotency.internal.kafka.ListenerContainers;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.assertj.core.api.AssertProvider;
import org.springframework.kafka.listener.AbstractMessageListenerContainer;
import org.springframework.kafka.listener.ContainerProperties;
import org.springframework.kafka.support.KafkaHeaders;
import org.springframework.kafka.support.TopicPartitionOffset;
import org.springframework.util.Assert;

/**
 * A consumer to which records can be delivered, with the outcomes of its messages since the start of the test method.
 *
 * <p>Supports AssertJ's {@code assertThat}.
 */
public final class TestedConsumer implements AssertProvider<TestedConsumerAssert> {

    private final String name;
    private final boolean isProtected;
    private final List<AbstractMessageListenerContainer<?, ?>> containers;
    private final ConsumerOutcomes outcomes;
    private final ContainerRunner runner;

    TestedConsumer(
            String name,
            boolean isProtected,
            List<AbstractMessageListenerContainer<?, ?>> containers,
            ConsumerOutcomes outcomes,
            ContainerRunner runner) {
        this.name = name;
        this.isProtected = isProtected;
        this.containers = containers;
        this.outcomes = outcomes;
        this.runner = runner;
    }

    /**
     * Prepares records to be delivered together, in one poll, as they were sent: bytes and text unchanged, other types with
     * the serializers of the application's {@code ProducerFactory}. The listener's deserializers read them. Each gets the next
     * offset of its partition, by default of partition 0.
     */
    public TestDelivery deliver(ProducerRecord<?, ?>... records) {
        return delivery(Arrays.stream(records).map(this.runner.log()::append).toList());
    }

    /** Prepares records to be delivered together, in one poll, without deserialization. */
    public TestDelivery deliver(ConsumerRecord<?, ?>... records) {
        return delivery(Arrays.stream(records).map(this.runner.log()::place).toList());
    }

    private TestDelivery delivery(List<LoggedRecord> records) {
        Assert.notEmpty(records, "There are no records to deliver");
        Set<RecordCoordinates> seen = new HashSet<>();
        records.forEach(record -> Assert.isTrue(
                seen.add(record.coordinates()),
                () -> ("Several of the records stand at %s, where a partition has one, and the others would never be"
                                + " delivered. Give each its own offset.")
                        .formatted(record.coordinates())));
        AbstractMessageListenerContainer<?, ?> container = containerOf(records);
        return new TestDelivery(this, container, records, this.runner);
    }

    /** Returns the container that reads the records: a consumer also has one for each of its retry topics. */
    private AbstractMessageListenerContainer<?, ?> containerOf(List<LoggedRecord> records) {
        return this.containers.stream()
                .filter(container -> records.stream().allMatch(record -> reads(container, record)))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException(
                        "No container of consumer '%s' reads %s: they read %s. Name one of these in the record."
                                .formatted(
                                        this.name,
                                        records.stream()
                                                .map(this::sourceOf)
                                                .distinct()
                                                .toList(),
                                        this.containers.stream()
                                                .map(TestedConsumer::sourcesOf)
                                                .toList())));
    }

    private static boolean reads(AbstractMessageListenerContainer<?, ?> container, LoggedRecord record) {
        ContainerProperties properties = container.getContainerProperties();
        if (properties.getTopicPattern() != null) {
            return properties.getTopicPattern().matcher(record.topic()).matches();
        }
        return (properties.getTopicPartitions() != null)
                ? sourcesOf(container).contains(record.partition())
                : ListenerContainers.topicsOf(container).contains(record.topic());
    }

    /** Returns the topic of a record, or its partition if partitions are assigned manually. */
    private Object sourceOf(LoggedRecord record) {
        boolean byPartition = this.containers.stream()
                .anyMatch(container -> container.getContainerProperties().getTopicPartitions() != null);
        return byPartition ? record.partition() : record.topic();
    }

    /** Returns the topics of a container, or its manually assigned partitions. */
    private static List<?> sourcesOf(AbstractMessageListenerContainer<?, ?> container) {
        TopicPartitionOffset[] partitions = container.getContainerProperties().getTopicPartitions();
        return (partitions != null)
                ? Arrays.stream(partitions)
                        .map(TopicPartitionOffset::getTopicPartition)
                        .toList()
                : ListenerContainers.topicsOf(container);
    }

    /** Returns the consumer's name. */
    public String name() {
        return this.name;
    }

    /** Returns the ids of the messages whose effects have been committed, in the order of the commits. */
    public List<String> processed() {
        return this.outcomes.processed.stream()
                .map(message -> message.id().value())
                .toList();
    }

    /** Returns the ids of the messages that were dropped as duplicates, once per dropped delivery. */
    public List<String> dropped() {
        return this.outcomes.dropped.stream()
                .map(duplicate -> duplicate.id().value())
                .toList();
    }

    /** Returns the ids of the messages that were dropped as older than a processed one, once per dropped delivery. */
    public List<String> stale() {
        return this.outcomes.stale.stream().map(stale -> stale.id().value()).toList();
    }

    /** Returns the number of attempts that were rolled back. */
    public int failures() {
        return this.outcomes.failures.size();
    }

    /** Returns the records that were captured, instead of sent to Kafka, while the tester delivered. */
    public List<ProducerRecord<?, ?>> published() {
        return List.copyOf(this.outcomes.published);
    }

    /** Returns the published records for dead-letter topics; of an unprotected listener, also for its retry topics. */
    public List<ProducerRecord<?, ?>> deadLetters() {
        return failed(false);
    }

    /** Returns the published records for retry topics of this consumer. */
    public List<ProducerRecord<?, ?>> retryTopicRecords() {
        return failed(true);
    }

    private List<ProducerRecord<?, ?>> failed(boolean toBeRetried) {
        Set<String> topics = this.containers.stream()
                .flatMap(container -> ListenerContainers.topicsOf(container).stream())
                .collect(Collectors.toSet());
        return this.outcomes.published.stream()
                .filter(record -> record.headers().lastHeader(KafkaHeaders.DLT_ORIGINAL_TOPIC) != null
                        || record.headers().lastHeader(KafkaHeaders.ORIGINAL_TOPIC) != null)
                .filter(record -> topics.contains(record.topic()) == toBeRetried)
                .toList();
    }

    boolean isProtected() {
        return this.isProtected;
    }

    ConsumerOutcomes outcomes() {
        return this.outcomes;
    }

    /** Called by AssertJ. */
    @Override
    public TestedConsumerAssert assertThat() {
        return new TestedConsumerAssert(this);
    }

    @Override
    public String toString() {
        return "consumer '%s'".formatted(this.name);
    }
}
