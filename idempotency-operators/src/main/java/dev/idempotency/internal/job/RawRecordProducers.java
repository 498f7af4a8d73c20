package dev.idempotency.internal.job;

import dev.idempotency.OperatorActionException;
import dev.idempotency.RecordCoordinates;
import dev.idempotency.internal.database.Causes;
import dev.idempotency.internal.kafka.BrokerConnection;
import dev.idempotency.internal.kafka.RawRecordProducer;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.errors.ApiException;
import org.apache.kafka.common.errors.RetriableException;
import org.apache.kafka.common.header.Header;
import org.jspecify.annotations.Nullable;
import org.springframework.kafka.core.ProducerFactory;

/** Sends records byte for byte to the brokers that listeners read from: a producer per cluster, and none before it is needed. */
public final class RawRecordProducers implements AutoCloseable {

    private final Supplier<@Nullable ProducerFactory<?, ?>> producerFactory;
    private final @Nullable String applicationName;
    private final String purpose;
    private final Map<Map<String, Object>, RawRecordProducer> producers = new HashMap<>();

    /** Uses the settings of {@code producerFactory}, if there is one; {@code purpose} is part of the client ids. */
    public RawRecordProducers(
            Supplier<@Nullable ProducerFactory<?, ?>> producerFactory,
            @Nullable String applicationName,
            String purpose) {
        this.producerFactory = producerFactory;
        this.applicationName = applicationName;
        this.purpose = purpose;
    }

    /**
     * Sends a record to a partition that still exists, and returns when the brokers have it.
     *
     * @param listener the brokers of its listener; {@code null} for the brokers of the application's producers
     * @param place its topic and partition
     * @throws OperatorActionException says in words that follow the record's name why it could not be sent
     */
    public void send(
            @Nullable BrokerConnection listener,
            RecordCoordinates place,
            byte @Nullable [] key,
            byte @Nullable [] value,
            List<Header> headers) {
        try {
            producerFor(listener).send(new ProducerRecord<>(place.topic(), place.partition(), key, value, headers));
        } catch (Exception ex) {
            if (ex instanceof InterruptedException) {
                Thread.currentThread().interrupt();
            }
            throw new OperatorActionException(
                    "could not be sent to %s: %s"
                            .formatted(place.topic(), Causes.of(ex).deepest()),
                    ex);
        }
    }

    /** Whether this record was refused and others may be accepted, rather than the brokers being unavailable. */
    public static boolean isRefusal(Throwable failure) {
        Causes causes = Causes.of(failure);
        return causes.contains(ApiException.class) && !causes.contains(RetriableException.class);
    }

    private synchronized RawRecordProducer producerFor(@Nullable BrokerConnection listener) {
        ProducerFactory<?, ?> factory = this.producerFactory.get();
        if (factory == null && listener == null) {
            throw new IllegalStateException(
                    "To send records again needs a ProducerFactory, but there is none, or there are"
                            + " several and none is @Primary");
        }
        Map<String, Object> settings = (factory != null) ? factory.getConfigurationProperties() : Map.of();
        boolean elsewhere =
                listener != null && (factory == null || listener.leadsElsewhereThan(BrokerConnection.of(factory)));
        return this.producers.computeIfAbsent(
                elsewhere ? listener.in(settings) : settings,
                configuration -> new RawRecordProducer(configuration, this.applicationName, this.purpose));
    }

    @Override
    public synchronized void close() {
        this.producers.values().forEach(RawRecordProducer::close);
        this.producers.clear();
    }
}
