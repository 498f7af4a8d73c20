package dev.idempotency.inbox;

import dev.idempotency.failure.FailureClassifier;
import dev.idempotency.observe.InboxObserver;
import dev.idempotency.store.Dialect;
import dev.idempotency.store.JdbcProcessedMessageStore;
import dev.idempotency.store.Tables;
import org.jspecify.annotations.Nullable;
import org.springframework.kafka.listener.AbstractMessageListenerContainer;

/** Gives listeners their inbox. */
public final class ListenerInboxes {

    private final InboxSettings settings;
    private final ReceivedBytes receivedBytes;
    private final InboxRecorder recorder;

    public ListenerInboxes(
            JdbcProcessedMessageStore store,
            Dialect dialect,
            Tables tables,
            InboxSettings settings,
            FailureClassifier classifier,
            InboxObserver observer) {
        ReceivedRecords received = new ReceivedRecords(settings.maxPayload());
        this.settings = settings;
        this.receivedBytes = new ReceivedBytes(received);
        this.recorder = new JdbcInboxRecorder(
                new InboxDatabase(store.dataSource(), dialect, tables),
                store,
                new MessageKeeping(received, settings.typeHeaders()),
                classifier,
                observer);
    }

    /** Whether listeners that do not say so have one, too. */
    public boolean forAll() {
        return this.settings.forAll();
    }

    /** Why the listeners of a container cannot have one, or {@code null} if they can. */
    public @Nullable String refusal(AbstractMessageListenerContainer<?, ?> container) {
        return ReceivedBytes.refusal(container);
    }

    /** Opens the inbox for the listeners of a container that has not been started. */
    public InboxRecorder open(AbstractMessageListenerContainer<?, ?> container) {
        this.receivedBytes.rememberIn(container);
        return this.recorder;
    }
}
