package dev.idempotency.test;

import java.util.Map;
import java.util.Properties;
import java.util.function.Supplier;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.common.serialization.Deserializer;
import org.jspecify.annotations.Nullable;
import org.springframework.kafka.core.ConsumerFactory;

/** Says what a container's own consumer factory says, and makes another consumer. */
final class LogConsumerFactory implements ConsumerFactory<Object, Object> {

    private final ConsumerFactory<Object, Object> own;
    private final Supplier<Consumer<Object, Object>> consumers;

    LogConsumerFactory(ConsumerFactory<Object, Object> own, Supplier<Consumer<Object, Object>> consumers) {
        this.own = own;
        this.consumers = consumers;
    }

    @Override
    public Consumer<Object, Object> createConsumer(
            @Nullable String groupId,
            @Nullable String clientIdPrefix,
            @Nullable String clientIdSuffix,
            @Nullable Properties properties) {
        return this.consumers.get();
    }

    @Override
    public boolean isAutoCommit() {
        return this.own.isAutoCommit();
    }

    @Override
    public Map<String, Object> getConfigurationProperties() {
        return this.own.getConfigurationProperties();
    }

    @Override
    public @Nullable Deserializer<Object> getKeyDeserializer() {
        return this.own.getKeyDeserializer();
    }

    @Override
    public @Nullable Deserializer<Object> getValueDeserializer() {
        return this.own.getValueDeserializer();
    }
}
