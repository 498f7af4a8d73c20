package dev.idempotency.inbox;

import dev.idempotency.kafka.BrokerConnection;
import dev.idempotency.kafka.DeserializerInstrumentation;
import dev.idempotency.observe.ObserverNotifier;
import dev.idempotency.store.JdbcProcessedMessageStore;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BiPredicate;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.springframework.kafka.listener.AbstractMessageListenerContainer;

/** Makes the recorders of listeners that have an inbox, and knows the brokers that they read from. */
public final class InboxRecorderFactory {

    private final InboxSettings settings;
    private final DeserializerInstrumentation receivedBytes;
    private final Map<String, BrokerConnection> connections = new ConcurrentHashMap<>();
    private final Function<KeptMessageFactory, InboxRecorder> recorders;

    /**
     * A factory of recorders that share a database.
     *
     * @param isOutage whether messages of one attempt failed for an outage, which is not recorded
     */
    public InboxRecorderFactory(
            JdbcProcessedMessageStore store,
            InboxSettings settings,
            DeserializerInstrumentation receivedBytes,
            BiPredicate<List<DeliveredMessage>, Throwable> isOutage,
            ObserverNotifier<InboxObserver> observers) {
        this.settings = settings;
        this.receivedBytes = receivedBytes;
        this.recorders = keeping -> new InboxRecorder(store, keeping, isOutage, observers);
    }

    /** Whether listeners that do not say so have one, too. */
    public boolean forAll() {
        return this.settings.forAll();
    }

    /** The recorder for a consumer's listeners of a container that has not been started. */
    public InboxRecorder create(String consumer, AbstractMessageListenerContainer<?, ?> container) {
        this.connections.put(consumer, BrokerConnection.of(container));
        this.receivedBytes.rememberIn(container);
        boolean retries = container.getMainListenerId() != null;
        return this.recorders.apply(new KeptMessageFactory(this.receivedBytes.records(), this.settings, retries));
    }

    /** Where a consumer reads from, or {@code null} if it is none of this application's. */
    @Nullable
    BrokerConnection connectionOf(String consumer) {
        return this.connections.get(consumer);
    }
}
