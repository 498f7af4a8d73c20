package dev.idempotency.chaos;

import dev.idempotency.chaos.consumer.ConsumerApplication;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.StringSerializer;
import org.jspecify.annotations.Nullable;

/**
 * Sends the messages. A fifth of them get a copy, soon or late, in the same or another partition; a few fail once, and a few
 * always fail. A message that could not be sent is retried until it succeeds.
 */
final class MessageSource implements AutoCloseable {

    private static final double DUPLICATES = 0.2;
    private static final double FLAKY = 0.01;
    private static final double POISON = 0.002;
    private static final int LATEST = 5_000;

    private record Copy(long due, ProducerRecord<String, String> record) {}

    private final KafkaProducer<String, String> producer;
    private final Random random;
    private final int partitions;
    private final boolean timed;
    private final PriorityQueue<Copy> copies = new PriorityQueue<>((a, b) -> Long.compare(a.due(), b.due()));
    private final Queue<ProducerRecord<String, String>> failed = new ConcurrentLinkedQueue<>();
    private final AtomicLong underway = new AtomicLong();
    private final List<MessageKind> messages = new ArrayList<>();
    private int duplicates;

    /** {@code timed} is whether the ids of messages contain their time. */
    MessageSource(String bootstrapServers, int partitions, long seed, boolean timed) {
        this.timed = timed;
        this.producer = new KafkaProducer<>(
                Map.of(
                        ProducerConfig.BOOTSTRAP_SERVERS_CONFIG,
                        bootstrapServers,
                        ProducerConfig.LINGER_MS_CONFIG,
                        5,
                        ProducerConfig.DELIVERY_TIMEOUT_MS_CONFIG,
                        20_000,
                        ProducerConfig.REQUEST_TIMEOUT_MS_CONFIG,
                        5_000),
                new StringSerializer(),
                new StringSerializer());
        this.partitions = partitions;
        this.random = new Random(seed);
    }

    /** Sends the next message, and all copies that are due. */
    void sendNext() {
        String id = String.valueOf(this.messages.size());
        MessageKind kind = kindOf(this.random.nextDouble());
        String messageId = this.timed ? RecordId.timed(this.messages.size(), System.currentTimeMillis()) : id;
        ProducerRecord<String, String> record = record(id, messageId, kind, this.random.nextInt(this.partitions));
        this.messages.add(kind);
        send(record);
        if (this.random.nextDouble() < DUPLICATES) {
            int partition = this.random.nextBoolean() ? record.partition() : this.random.nextInt(this.partitions);
            long due = this.random.nextBoolean()
                    ? this.messages.size()
                    : this.messages.size() + this.random.nextInt(LATEST);
            this.copies.add(new Copy(due, record(id, messageId, kind, partition)));
        }
        sendDue(this.messages.size());
    }

    /** Sends all remaining copies, and waits until the broker has stored them. */
    void finish() throws InterruptedException {
        sendDue(Long.MAX_VALUE);
        while (this.underway.get() > 0 || !this.failed.isEmpty()) {
            sendFailed();
            Thread.sleep(50);
        }
    }

    /** The kinds of all messages, by id. */
    List<MessageKind> messages() {
        return this.messages;
    }

    int duplicates() {
        return this.duplicates;
    }

    private static MessageKind kindOf(double chance) {
        if (chance < POISON) {
            return MessageKind.POISON;
        }
        return (chance < POISON + FLAKY) ? MessageKind.FLAKY : MessageKind.ORDINARY;
    }

    private static ProducerRecord<String, String> record(
            String id, String messageId, MessageKind kind, @Nullable Integer partition) {
        ProducerRecord<String, String> record =
                new ProducerRecord<>(ConsumerApplication.TOPIC, partition, id, kind.payload(id));
        record.headers().add("message-id", messageId.getBytes(StandardCharsets.UTF_8));
        record.headers().add("version", id.getBytes(StandardCharsets.UTF_8));
        String entity = String.valueOf(Entities.of(Integer.parseInt(id)));
        record.headers().add("entity", entity.getBytes(StandardCharsets.UTF_8));
        return record;
    }

    private void sendDue(long now) {
        while (!this.copies.isEmpty() && this.copies.peek().due() <= now) {
            this.duplicates++;
            send(this.copies.poll().record());
        }
        sendFailed();
    }

    private void sendFailed() {
        for (ProducerRecord<String, String> record = this.failed.poll(); record != null; record = this.failed.poll()) {
            send(record);
        }
    }

    private void send(ProducerRecord<String, String> record) {
        this.underway.incrementAndGet();
        this.producer.send(record, (metadata, failure) -> {
            if (failure != null) {
                this.failed.add(record);
            }
            this.underway.decrementAndGet();
        });
    }

    @Override
    public void close() {
        this.producer.close();
    }
}
