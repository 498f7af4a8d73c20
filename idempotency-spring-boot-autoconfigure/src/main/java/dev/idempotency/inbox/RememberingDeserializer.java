package dev.idempotency.inbox;

import java.nio.ByteBuffer;
import java.util.Map;
import org.apache.kafka.common.header.Headers;
import org.apache.kafka.common.serialization.Deserializer;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.BeanUtils;
import org.springframework.kafka.support.serializer.ErrorHandlingDeserializer;
import org.springframework.util.Assert;
import org.springframework.util.ClassUtils;

/**
 * Remembers the bytes that it is given, and lets the listener's own deserializer do the rest.
 *
 * <p>Containers look for what an {@link ErrorHandlingDeserializer} could not read only if they find that class. The
 * listener's own may be one, and without that its failures would pass for tombstones; so this counts as one. For others
 * there is nothing to be found.
 */
public final class RememberingDeserializer extends ErrorHandlingDeserializer<Object> {

    static final String RECEIVED = "idempotency.inbox.received";
    static final String KEY_DELEGATE = "idempotency.inbox.key.deserializer";
    static final String VALUE_DELEGATE = "idempotency.inbox.value.deserializer";

    private @Nullable Deserializer<?> delegate;
    private @Nullable ReceivedRecords received;
    private boolean key;

    /** For Kafka, which configures it: the delegate is made then. */
    public RememberingDeserializer() {}

    RememberingDeserializer(Deserializer<?> delegate, ReceivedRecords received, boolean key) {
        this.delegate = delegate;
        this.received = received;
        this.key = key;
    }

    @Override
    public void configure(Map<String, ?> configuration, boolean isKey) {
        if (this.delegate == null) {
            this.key = isKey;
            this.received = (ReceivedRecords) configuration.get(RECEIVED);
            this.delegate = instantiate(configuration.get(isKey ? KEY_DELEGATE : VALUE_DELEGATE));
        }
        this.delegate.configure(configuration, isKey);
    }

    private static Deserializer<?> instantiate(@Nullable Object configured) {
        Class<?> type = (configured instanceof Class<?> named)
                ? named
                : ClassUtils.resolveClassName(String.valueOf(configured), ClassUtils.getDefaultClassLoader());
        return (Deserializer<?>) BeanUtils.instantiateClass(type);
    }

    @Override
    public @Nullable Object deserialize(String topic, byte @Nullable [] data) {
        return delegate().deserialize(topic, data);
    }

    @Override
    public @Nullable Object deserialize(String topic, Headers headers, byte @Nullable [] data) {
        if (data != null) {
            remember(headers, ByteBuffer.wrap(data));
        }
        return delegate().deserialize(topic, headers, data);
    }

    @Override
    public @Nullable Object deserialize(String topic, Headers headers, @Nullable ByteBuffer data) {
        if (data != null) {
            remember(headers, data);
        }
        return delegate().deserialize(topic, headers, data);
    }

    private void remember(Headers headers, ByteBuffer data) {
        Assert.state(this.received != null, "The deserializer was not configured");
        if (this.key) {
            this.received.rememberKey(headers, data);
        } else {
            this.received.rememberValue(headers, data);
        }
    }

    private Deserializer<?> delegate() {
        Assert.state(this.delegate != null, "The deserializer was not configured");
        return this.delegate;
    }

    @Override
    public void close() {
        if (this.delegate != null) {
            this.delegate.close();
        }
    }
}
