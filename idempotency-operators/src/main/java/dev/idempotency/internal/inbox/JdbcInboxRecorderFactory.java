package dev.idempotency.internal.inbox;

import dev.idempotency.event.IdempotencyEventListener;
import dev.idempotency.internal.definition.InboxRecorder;
import dev.idempotency.internal.definition.InboxRecorder.Delivered;
import dev.idempotency.internal.kafka.BrokerConnection;
import dev.idempotency.internal.kafka.DeserializerInstrumentation;
import dev.idempotency.internal.store.JdbcProcessedMessageStore;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BiPredicate;
import org.jspecify.annotations.Nullable;
import org.springframework.kafka.listener.AbstractMessageListenerContainer;

/** Creates the recorders of listeners that have an inbox, and knows the brokers that they read from. */
public final class JdbcInboxRecorderFactory implements InboxRecorder.Factory {

    private final JdbcProcessedMessageStore store;
    private final int maxPayload;
    private final DeserializerInstrumentation receivedBytes;
    private final BiPredicate<List<Delivered>, Throwable> isOutage;
    private final IdempotencyEventListener observers;
    private final Map<String, BrokerConnection> connections = new ConcurrentHashMap<>();

    /**
     * Creates no recorder yet.
     *
     * @param maxPayload the size in bytes beyond which a payload is left out
     * @param isOutage whether messages of one attempt failed for an outage, which is not recorded
     */
    public JdbcInboxRecorderFactory(
            JdbcProcessedMessageStore store,
            int maxPayload,
            DeserializerInstrumentation receivedBytes,
            BiPredicate<List<Delivered>, Throwable> isOutage,
            IdempotencyEventListener observers) {
        this.store = store;
        this.maxPayload = maxPayload;
        this.receivedBytes = receivedBytes;
        this.isOutage = isOutage;
        this.observers = observers;
    }

    @Override
    public InboxRecorder create(String consumer, AbstractMessageListenerContainer<?, ?> container) {
        this.connections.put(consumer, BrokerConnection.of(container));
        this.receivedBytes.rememberIn(container);
        boolean retries = container.getMainListenerId() != null;
        return new JdbcInboxRecorder(
                this.store,
                message -> StoredMessage.of(
                        message.id(),
                        message.coordinates(),
                        message.record(),
                        this.receivedBytes.records(),
                        this.maxPayload,
                        retries),
                this.isOutage,
                this.observers);
    }

    /** Where a consumer reads from, or {@code null} if it is none of this application's. */
    @Nullable
    BrokerConnection connectionOf(String consumer) {
        return this.connections.get(consumer);
    }
}
