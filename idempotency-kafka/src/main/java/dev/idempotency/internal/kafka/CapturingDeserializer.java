package dev.idempotency.internal.kafka;

import java.nio.ByteBuffer;
import java.util.Map;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.apache.kafka.common.errors.SerializationException;
import org.apache.kafka.common.header.Headers;
import org.apache.kafka.common.serialization.Deserializer;
import org.apache.kafka.common.utils.Utils;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.BeanUtils;
import org.springframework.kafka.support.serializer.ErrorHandlingDeserializer;
import org.springframework.kafka.support.serializer.SerializationUtils;
import org.springframework.util.Assert;
import org.springframework.util.ClassUtils;

/**
 * Remembers the bytes that it is given, and lets the listener's own deserializer do the rest; what that one cannot read
 * is delivered if asked for. Containers look for that only if they find an {@link ErrorHandlingDeserializer}, so this
 * is one: failures of the listener's own would pass for tombstones.
 */
public final class CapturingDeserializer extends ErrorHandlingDeserializer<Object> {

    static final String RECEIVED = "idempotency.received.records";
    static final String MESSAGES_FAULT = "idempotency.received.messages-fault";
    static final String KEY_DELEGATE = "idempotency.received.key.deserializer";
    static final String VALUE_DELEGATE = "idempotency.received.value.deserializer";

    private @Nullable Deserializer<?> delegate;
    private @Nullable ReceivedRecords received;
    private Predicate<Throwable> messagesFault = failure -> false;
    private boolean key;
    boolean ready;

    /** For Kafka, which configures it: the delegate is made then. */
    public CapturingDeserializer() {}

    /** For consumer factories, which configure it, but not a delegate that is {@code ready}. */
    CapturingDeserializer(Deserializer<?> delegate, boolean ready) {
        this.delegate = delegate;
        this.ready = ready;
    }

    @Override
    @SuppressWarnings("unchecked") // Only this library sets the property.
    public void configure(Map<String, ?> configuration, boolean isKey) {
        this.key = isKey;
        if (this.delegate == null) {
            this.delegate = (Deserializer<?>) instantiate(configuration.get(isKey ? KEY_DELEGATE : VALUE_DELEGATE));
        }
        // Without these properties, the consumer is not a protected listener's, but has the same factory.
        this.received = (ReceivedRecords) configuration.get(RECEIVED);
        if (configuration.get(MESSAGES_FAULT) instanceof Predicate<?> judgement) {
            this.messagesFault = (Predicate<Throwable>) judgement;
        }
        if (!this.ready) {
            this.delegate.configure(configuration, isKey);
        }
    }

    /** Creates an object of a class that is configured, also by its name. */
    static Object instantiate(@Nullable Object configured) {
        Class<?> type = (configured instanceof Class<?> named)
                ? named
                : ClassUtils.resolveClassName(String.valueOf(configured), ClassUtils.getDefaultClassLoader());
        return BeanUtils.instantiateClass(type);
    }

    @Override
    public @Nullable Object deserialize(String topic, byte @Nullable [] data) {
        return delegate().deserialize(topic, data);
    }

    @Override
    public @Nullable Object deserialize(String topic, Headers headers, byte @Nullable [] data) {
        ByteBuffer received = (data != null) ? remember(headers, ByteBuffer.wrap(data)) : null;
        return read(headers, received, () -> delegate().deserialize(topic, headers, data));
    }

    @Override
    public @Nullable Object deserialize(String topic, Headers headers, @Nullable ByteBuffer data) {
        ByteBuffer received = (data != null) ? remember(headers, data.duplicate()) : null;
        return read(headers, received, () -> delegate().deserialize(topic, headers, data));
    }

    /** Returns the received bytes in a buffer that the deserializer cannot change. */
    private ByteBuffer remember(Headers headers, ByteBuffer data) {
        return (this.received != null) ? ByteBuffer.wrap(this.received.remember(headers, this.key, data)) : data;
    }

    private @Nullable Object read(
            Headers headers, @Nullable ByteBuffer received, Supplier<? extends @Nullable Object> deserialization) {
        try {
            return deserialization.get();
        } catch (RuntimeException | StackOverflowError ex) {
            if (received == null || !this.messagesFault.test(ex)) {
                throw ex;
            }
            Exception failure = (ex instanceof Exception exception) ? exception : new SerializationException(ex);
            SerializationUtils.deserializationException(headers, Utils.toArray(received), failure, this.key);
            return null;
        }
    }

    /** The listener's own; {@code null} before this one has been configured. */
    @Nullable
    Deserializer<?> inner() {
        return this.delegate;
    }

    private Deserializer<?> delegate() {
        Assert.state(this.delegate != null, "The deserializer was not configured");
        return this.delegate;
    }

    @Override
    public void close() {
        if (this.received != null) {
            this.received.close();
        }
        if (this.delegate != null) {
            this.delegate.close();
        }
    }
}
