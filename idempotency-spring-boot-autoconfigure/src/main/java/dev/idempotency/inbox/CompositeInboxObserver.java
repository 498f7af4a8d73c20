package dev.idempotency.inbox;

import dev.idempotency.MessageId;
import java.util.List;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Several observers as one, none of which can break the inbox. */
public final class CompositeInboxObserver implements InboxObserver {

    private static final Logger logger = LoggerFactory.getLogger(CompositeInboxObserver.class);

    private final List<InboxObserver> observers;

    public CompositeInboxObserver(List<InboxObserver> observers) {
        this.observers = List.copyOf(observers);
    }

    @Override
    public void replayed(MessageId id) {
        tell(observer -> observer.replayed(id));
    }

    @Override
    public void unrecorded(String consumer, RuntimeException reason) {
        tell(observer -> observer.unrecorded(consumer, reason));
    }

    private void tell(Consumer<InboxObserver> news) {
        for (InboxObserver observer : this.observers) {
            try {
                news.accept(observer);
            } catch (RuntimeException ex) {
                logger.warn("{} failed and was ignored: the inbox is not affected", observer, ex);
            }
        }
    }
}
