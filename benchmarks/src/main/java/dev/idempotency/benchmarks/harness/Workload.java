package dev.idempotency.benchmarks.harness;

import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.StringSerializer;

/** Publishes messages with a unique id in the header and in the payload, and with increasing versions. */
final class Workload implements AutoCloseable {

    private static final String FILLING = "x".repeat(160);

    private static final AtomicLong LAST_VERSION = new AtomicLong();

    private final String topic;
    private final int partitions;
    private final KafkaProducer<String, String> producer;
    private final boolean timeOrderedIds;

    Workload(String topic, int partitions, String bootstrapServers, boolean timeOrderedIds) {
        this.topic = topic;
        this.partitions = partitions;
        this.timeOrderedIds = timeOrderedIds;
        // One request at a time: if the first request to a new partition were retried after the second had succeeded,
        // as when the partition has no leader yet, its records would stay out of order.
        this.producer = new KafkaProducer<>(
                Map.of(
                        ProducerConfig.BOOTSTRAP_SERVERS_CONFIG,
                        bootstrapServers,
                        ProducerConfig.LINGER_MS_CONFIG,
                        5,
                        ProducerConfig.MAX_IN_FLIGHT_REQUESTS_PER_CONNECTION,
                        1),
                new StringSerializer(),
                new StringSerializer());
    }

    /** Publishes this many messages to each partition. */
    void publish(int messages) {
        for (int i = 0; i < messages; i++) {
            for (int partition = 0; partition < this.partitions; partition++) {
                this.producer.send(message(partition));
            }
        }
        this.producer.flush();
    }

    String topic() {
        return this.topic;
    }

    /** Publishes messages with the ids {@code number-0} and so on. */
    void publishNumbered(int messages) {
        for (int i = 0; i < messages; i++) {
            this.producer.send(message(0, "number-" + i));
        }
        this.producer.flush();
    }

    /** Publishes to the first partition at a fixed rate, whether or not the consumer keeps up. */
    void publish(int messages, int perSecond) {
        long start = System.nanoTime();
        for (int i = 0; i < messages; i++) {
            long due = start + i * 1_000_000_000L / perSecond;
            for (long wait = due - System.nanoTime(); wait > 0; wait = due - System.nanoTime()) {
                LockSupport.parkNanos(wait);
            }
            this.producer.send(message(0));
        }
        this.producer.flush();
    }

    private ProducerRecord<String, String> message(int partition) {
        return message(partition, newId().toString());
    }

    /** Returns a UUID of version 4 or 7. */
    private UUID newId() {
        UUID random = UUID.randomUUID();
        long time = System.currentTimeMillis() << 16 | 0x7000 | random.getMostSignificantBits() & 0xfff;
        return this.timeOrderedIds ? new UUID(time, random.getLeastSignificantBits()) : random;
    }

    private ProducerRecord<String, String> message(int partition, String id) {
        ProducerRecord<String, String> message = new ProducerRecord<>(this.topic, partition, null, id + " " + FILLING);
        message.headers().add("message-id", id.getBytes(StandardCharsets.UTF_8));
        String version = Long.toString(LAST_VERSION.incrementAndGet());
        message.headers().add("version", version.getBytes(StandardCharsets.UTF_8));
        return message;
    }

    @Override
    public void close() {
        this.producer.close();
    }
}
