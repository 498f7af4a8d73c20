package dev.idempotency.inbox;

import dev.idempotency.RecordCoordinates;
import dev.idempotency.failure.Causes;
import dev.idempotency.kafka.BrokerConnection;
import dev.idempotency.kafka.RawRecordProducer;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeoutException;
import java.util.function.Function;
import java.util.function.Supplier;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.errors.ApiException;
import org.apache.kafka.common.errors.RetriableException;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.internals.RecordHeader;
import org.jspecify.annotations.Nullable;
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

    private final Function<String, @Nullable BrokerConnection> listeners;
    private final Supplier<@Nullable ProducerFactory<?, ?>> producerFactory;
    private final @Nullable String applicationName;
    private final Map<Map<String, Object>, RawRecordProducer> producers = new HashMap<>();

    /**
     * {@code listeners} knows where a consumer reads from; {@code null} for a consumer of somebody else, whose messages go
     * where the application's producers send to.
     */
    ReplayProducer(
            Function<String, @Nullable BrokerConnection> listeners,
            Supplier<@Nullable ProducerFactory<?, ?>> producerFactory,
            @Nullable String applicationName) {
        this.listeners = listeners;
        this.producerFactory = producerFactory;
        this.applicationName = applicationName;
    }

    /** Sends the message to the brokers that its listener reads from, and returns when they have it. */
    void send(InboxMessage message) throws ExecutionException, TimeoutException, InterruptedException {
        RecordCoordinates record = message.entry().record();
        producerFor(message.entry().id().consumer())
                .send(new ProducerRecord<>(
                        record.topic(), record.partition(), message.key(), message.payload(), headers(message)));
    }

    /** Whether this one record was refused, so that others may well be sent: not if nobody answered, or not in time. */
    static boolean isRefusal(Throwable failure) {
        boolean refused = false;
        for (Throwable cause : Causes.of(failure)) {
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

    private synchronized RawRecordProducer producerFor(String consumer) {
        BrokerConnection listener = this.listeners.apply(consumer);
        ProducerFactory<?, ?> factory = this.producerFactory.get();
        if (factory == null && listener == null) {
            throw new IllegalStateException("A replay needs a ProducerFactory, but there is none, or there are"
                    + " several and none is @Primary");
        }
        Map<String, Object> settings = (factory != null) ? factory.getConfigurationProperties() : Map.of();
        boolean elsewhere =
                listener != null && (factory == null || listener.leadsElsewhereThan(BrokerConnection.of(factory)));
        return this.producers.computeIfAbsent(
                elsewhere ? listener.in(settings) : settings,
                configuration -> new RawRecordProducer(configuration, this.applicationName, "replays"));
    }

    @Override
    public synchronized void close() {
        this.producers.values().forEach(RawRecordProducer::close);
        this.producers.clear();
    }
}
