package dev.idempotency.inbox;

import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.common.errors.InvalidPartitionsException;
import org.apache.kafka.common.errors.InvalidTopicException;
import org.apache.kafka.common.errors.UnknownTopicOrPartitionException;
import org.jspecify.annotations.Nullable;
import org.springframework.kafka.core.DefaultKafkaProducerFactory;
import org.springframework.kafka.core.KafkaTemplate;

/** Sends records to one cluster, and knows which of its topics and partitions are gone. */
final class ReplayChannel implements AutoCloseable {

    private static final long SOON_NANOS = Duration.ofSeconds(10).toNanos();
    private static final int ANSWER_SECONDS = 10;
    private static final int GONE = 0;

    private static final List<String> OF_PRODUCERS_ALONE = List.of(
            ProducerConfig.KEY_SERIALIZER_CLASS_CONFIG,
            ProducerConfig.VALUE_SERIALIZER_CLASS_CONFIG,
            ProducerConfig.INTERCEPTOR_CLASSES_CONFIG,
            ProducerConfig.METRIC_REPORTER_CLASSES_CONFIG,
            ProducerConfig.RETRIES_CONFIG);

    private record Partitions(int count, long asked) {}

    private final DefaultKafkaProducerFactory<byte[], byte[]> producers;
    private final KafkaTemplate<byte[], byte[]> template;
    private final Map<String, Partitions> partitions = new ConcurrentHashMap<>();

    ReplayChannel(DefaultKafkaProducerFactory<byte[], byte[]> producers) {
        this.producers = producers;
        this.template = new KafkaTemplate<>(producers);
    }

    KafkaTemplate<byte[], byte[]> template() {
        return this.template;
    }

    /**
     * Refuses what cannot be sent, however long it is waited for. A producer would wait for the partition to appear, and
     * not say then that the brokers have answered all the while.
     */
    void requirePartition(String topic, int partition) throws InterruptedException {
        Integer count = countPartitions(topic);
        if (count == null || partition < count) {
            return;
        }
        if (count == GONE) {
            throw new InvalidTopicException("There is no longer a topic " + topic);
        }
        throw new InvalidPartitionsException(
                "There is no longer a partition %d of topic %s, which has %d".formatted(partition, topic, count));
    }

    /** How many there are, or {@code null} if that is not known: then it shows when the record is sent. */
    private @Nullable Integer countPartitions(String topic) throws InterruptedException {
        Partitions known = this.partitions.get(topic);
        if (known != null && System.nanoTime() - known.asked() < SOON_NANOS) {
            return known.count();
        }
        Integer count = askForPartitions(topic);
        if (count != null) {
            this.partitions.put(topic, new Partitions(count, System.nanoTime()));
        }
        return count;
    }

    private @Nullable Integer askForPartitions(String topic) throws InterruptedException {
        Map<String, Object> configuration = new HashMap<>(this.producers.getConfigurationProperties());
        OF_PRODUCERS_ALONE.forEach(configuration::remove);
        try (Admin admin = Admin.create(configuration)) {
            return admin.describeTopics(List.of(topic))
                    .allTopicNames()
                    .get(ANSWER_SECONDS, TimeUnit.SECONDS)
                    .get(topic)
                    .partitions()
                    .size();
        } catch (ExecutionException ex) {
            return (ex.getCause() instanceof UnknownTopicOrPartitionException) ? GONE : null;
        } catch (TimeoutException | RuntimeException ex) {
            return null;
        }
    }

    @Override
    public void close() {
        this.template.destroy();
        this.producers.destroy();
    }
}
