package dev.idempotency.inbox;

import dev.idempotency.RecordCoordinates;
import dev.idempotency.failure.RawProducers;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.errors.ApiException;
import org.apache.kafka.common.errors.RetriableException;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.internals.RecordHeader;
import org.jspecify.annotations.Nullable;
import org.springframework.kafka.core.DefaultKafkaProducerFactory;
import org.springframework.kafka.core.KafkaTemplate;
import org.springframework.kafka.core.ProducerFactory;
import org.springframework.kafka.support.KafkaHeaders;

/**
 * Sends stored records to their topics again: the same partition, key, headers and value, byte for byte.
 *
 * <p>Headers that lead back to the original record are added, so that a key made of its coordinates stays the same; those
 * of its way through retry topics are left out, so that its attempts are counted anew.
 */
final class ReplayProducer implements AutoCloseable {

    private static final String RETRY_TOPIC_PREFIX = "retry_topic-";
    private static final Set<String> LEADING_BACK =
            Set.of(KafkaHeaders.ORIGINAL_TOPIC, KafkaHeaders.DLT_ORIGINAL_TOPIC);
    private static final int SEND_TIMEOUT_SECONDS = 25;

    private final Supplier<@Nullable ProducerFactory<?, ?>> producerFactory;
    private @Nullable DefaultKafkaProducerFactory<byte[], byte[]> producers;
    private @Nullable KafkaTemplate<byte[], byte[]> template;

    ReplayProducer(Supplier<@Nullable ProducerFactory<?, ?>> producerFactory) {
        this.producerFactory = producerFactory;
    }

    /** Sends the message, and returns when the broker has it. */
    void send(InboxMessage message) throws ExecutionException, TimeoutException, InterruptedException {
        RecordCoordinates record = message.entry().record();
        template()
                .send(new ProducerRecord<>(
                        record.topic(), record.partition(), message.key(), message.payload(), headers(message)))
                .get(SEND_TIMEOUT_SECONDS, TimeUnit.SECONDS);
    }

    /** Whether one record was refused, others than which may well be sent: neither is nobody there nor did time run out. */
    static boolean isRefusal(Throwable failure) {
        boolean refused = false;
        for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
            if (cause instanceof RetriableException) {
                return false;
            }
            refused |= cause instanceof ApiException;
        }
        return refused;
    }

    static List<Header> headers(InboxMessage message) {
        List<Header> headers = new ArrayList<>();
        for (Header header : message.headers()) {
            if (!header.key().startsWith(RETRY_TOPIC_PREFIX)) {
                headers.add(header);
            }
        }
        if (headers.stream().noneMatch(header -> LEADING_BACK.contains(header.key()))) {
            RecordCoordinates record = message.entry().record();
            headers.add(
                    new RecordHeader(KafkaHeaders.ORIGINAL_TOPIC, record.topic().getBytes(StandardCharsets.UTF_8)));
            headers.add(new RecordHeader(
                    KafkaHeaders.ORIGINAL_PARTITION,
                    ByteBuffer.allocate(Integer.BYTES)
                            .putInt(record.partition())
                            .array()));
            headers.add(new RecordHeader(
                    KafkaHeaders.ORIGINAL_OFFSET,
                    ByteBuffer.allocate(Long.BYTES).putLong(record.offset()).array()));
        }
        return headers;
    }

    private synchronized KafkaTemplate<byte[], byte[]> template() {
        if (this.template == null) {
            ProducerFactory<?, ?> factory = this.producerFactory.get();
            if (factory == null) {
                throw new IllegalStateException("A replay needs a ProducerFactory, but there is none, or there are"
                        + " several and none is @Primary");
            }
            this.producers = RawProducers.like(factory, null, "replays");
            this.template = new KafkaTemplate<>(this.producers);
        }
        return this.template;
    }

    @Override
    public synchronized void close() {
        if (this.template != null) {
            this.template.destroy();
        }
        if (this.producers != null) {
            this.producers.destroy();
        }
    }
}
