package dev.idempotency.benchmarks.harness;

import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.locks.LockSupport;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.StringSerializer;

/** The messages: each with an id of its own in its header, and a payload that contains it. */
final class Workload implements AutoCloseable {

    private static final String FILLING = "x".repeat(160);

    private final String topic;
    private final KafkaProducer<String, String> producer;

    Workload(String topic, String bootstrapServers) {
        this.topic = topic;
        this.producer = new KafkaProducer<>(
                Map.of(ProducerConfig.BOOTSTRAP_SERVERS_CONFIG, bootstrapServers, ProducerConfig.LINGER_MS_CONFIG, 5),
                new StringSerializer(),
                new StringSerializer());
    }

    void publish(int messages) {
        for (int i = 0; i < messages; i++) {
            this.producer.send(message());
        }
        this.producer.flush();
    }

    /** Publishes messages whose ids are {@code number-0} and so on. */
    void publishNumbered(int messages) {
        for (int i = 0; i < messages; i++) {
            this.producer.send(message("number-" + i));
        }
        this.producer.flush();
    }

    /** Publishes at a fixed rate, whether or not anybody keeps up. */
    void publish(int messages, int perSecond) {
        long start = System.nanoTime();
        for (int i = 0; i < messages; i++) {
            long due = start + i * 1_000_000_000L / perSecond;
            for (long wait = due - System.nanoTime(); wait > 0; wait = due - System.nanoTime()) {
                LockSupport.parkNanos(wait);
            }
            this.producer.send(message());
        }
        this.producer.flush();
    }

    private ProducerRecord<String, String> message() {
        return message(UUID.randomUUID().toString());
    }

    private ProducerRecord<String, String> message(String id) {
        ProducerRecord<String, String> message = new ProducerRecord<>(this.topic, id + " " + FILLING);
        message.headers().add("message-id", id.getBytes(StandardCharsets.UTF_8));
        return message;
    }

    @Override
    public void close() {
        this.producer.close();
    }
}
