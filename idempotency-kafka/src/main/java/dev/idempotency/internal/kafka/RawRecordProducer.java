package dev.idempotency.internal.kafka;

import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.kafka.clients.admin.TopicDescription;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.errors.InvalidPartitionsException;
import org.apache.kafka.common.errors.InvalidTopicException;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.jspecify.annotations.Nullable;
import org.springframework.kafka.core.DefaultKafkaProducerFactory;
import org.springframework.kafka.core.KafkaTemplate;
import org.springframework.kafka.core.ProducerPostProcessor;
import org.springframework.util.StringUtils;

/**
 * Sends records to one cluster byte for byte, with the application's producer settings except for those on which it depends
 * that nothing is lost. Waits for seconds only, as its callers wait, too. Connects when it is first used.
 */
public final class RawRecordProducer implements AutoCloseable {

    /** How long to wait for a record to be sent: a little longer than the producer itself tries. */
    public static final Duration SEND_TIMEOUT = Duration.ofSeconds(25);

    private static final Map<String, Object> SETTINGS = Map.of(
            ProducerConfig.ACKS_CONFIG, "all",
            ProducerConfig.LINGER_MS_CONFIG, 0,
            ProducerConfig.MAX_BLOCK_MS_CONFIG, 10_000,
            ProducerConfig.REQUEST_TIMEOUT_MS_CONFIG, 10_000,
            ProducerConfig.DELIVERY_TIMEOUT_MS_CONFIG, 20_000);

    private final DefaultKafkaProducerFactory<byte[], byte[]> producers;
    private final KafkaTemplate<byte[], byte[]> template;
    private final String purpose;
    private @Nullable BrokerQueries queries;

    /** A producer whose client id begins as in the application's settings, or else with its name. */
    public RawRecordProducer(Map<String, Object> settings, @Nullable String applicationName, String purpose) {
        Map<String, Object> configuration = new HashMap<>(settings);
        configuration.remove(ProducerConfig.TRANSACTIONAL_ID_CONFIG);
        configuration.putAll(SETTINGS);
        Object name = configuration.getOrDefault(ProducerConfig.CLIENT_ID_CONFIG, applicationName);
        configuration.put(
                ProducerConfig.CLIENT_ID_CONFIG,
                StringUtils.hasText((String) name) ? name + "-idempotency-" + purpose : "idempotency-" + purpose);
        this.producers =
                new DefaultKafkaProducerFactory<>(configuration, new ByteArraySerializer(), new ByteArraySerializer());
        this.template = new KafkaTemplate<>(this.producers);
        this.purpose = purpose;
    }

    /** Has what is put around the application's producers (for tracing, or in tests) put around this one too. */
    @SuppressWarnings("unchecked") // They are for producers of any type, as those of an application may be.
    public void postProcessWith(List<? extends ProducerPostProcessor<?, ?>> postProcessors) {
        postProcessors.forEach(postProcessor ->
                this.producers.addPostProcessor((ProducerPostProcessor<byte[], byte[]>) postProcessor));
    }

    /** The same producer, for callers that send records themselves. */
    public KafkaTemplate<byte[], byte[]> template() {
        return this.template;
    }

    /** Sends a record to a partition that still exists, and returns when the brokers have it. */
    public void send(ProducerRecord<byte[], byte[]> record)
            throws ExecutionException, TimeoutException, InterruptedException {
        requirePartition(record.topic(), record.partition());
        this.template.send(record).get(SEND_TIMEOUT.toSeconds(), TimeUnit.SECONDS);
    }

    /** Refuses what cannot be sent. A producer would wait for the partition to appear, and fail as if the brokers were away. */
    private void requirePartition(String topic, int partition) {
        TopicDescription found;
        try {
            found = queries().describe(List.of(topic)).get(topic);
        } catch (KafkaException ex) {
            // It shows when the record is sent.
            return;
        }
        if (found == null) {
            throw new InvalidTopicException("There is no longer a topic " + topic);
        }
        int count = found.partitions().size();
        if (partition >= count) {
            throw new InvalidPartitionsException(
                    "There is no longer a partition %d of topic %s, which has %d".formatted(partition, topic, count));
        }
    }

    private synchronized BrokerQueries queries() {
        if (this.queries == null) {
            this.queries = new BrokerQueries(BrokerConnection.of(this.producers), this.purpose);
        }
        return this.queries;
    }

    @Override
    public synchronized void close() {
        if (this.queries != null) {
            this.queries.close();
        }
        this.template.destroy();
        this.producers.destroy();
    }
}
