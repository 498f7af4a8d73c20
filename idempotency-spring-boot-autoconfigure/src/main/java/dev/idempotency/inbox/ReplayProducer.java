package dev.idempotency.inbox;

import dev.idempotency.RecordCoordinates;
import dev.idempotency.kafka.BrokerConnection;
import dev.idempotency.kafka.RawRecordProducers;
import dev.idempotency.kafka.RepublishedHeaders;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeoutException;
import java.util.function.Function;
import java.util.function.Supplier;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.header.Header;
import org.jspecify.annotations.Nullable;
import org.springframework.kafka.core.ProducerFactory;

/**
 * Sends stored records to their topics again: the same partition, key, headers and value, byte for byte, with headers that
 * lead back to the original record.
 */
final class ReplayProducer implements AutoCloseable {

    private final Function<String, @Nullable BrokerConnection> listeners;
    private final RawRecordProducers producers;

    /**
     * {@code listeners} knows where a consumer reads from; {@code null} for a consumer of somebody else, whose messages go
     * where the application's producers send to.
     */
    ReplayProducer(
            Function<String, @Nullable BrokerConnection> listeners,
            Supplier<@Nullable ProducerFactory<?, ?>> producerFactory,
            @Nullable String applicationName) {
        this.listeners = listeners;
        this.producers = new RawRecordProducers(producerFactory, applicationName, "replays");
    }

    /** Sends the message to the brokers that its listener reads from, and returns when they have it. */
    void send(InboxMessage message) throws ExecutionException, TimeoutException, InterruptedException {
        RecordCoordinates record = message.entry().record();
        this.producers.send(
                this.listeners.apply(message.entry().id().consumer()),
                new ProducerRecord<>(
                        record.topic(), record.partition(), message.key(), message.payload(), headers(message)));
    }

    static List<Header> headers(InboxMessage message) {
        return RepublishedHeaders.of(message.headers(), message.entry().record());
    }

    @Override
    public void close() {
        this.producers.close();
    }
}
